//! `/v1/admin/tenants`: the customers, as operators see them.

pub mod billing;
pub mod change;
pub mod create;
pub mod get;
pub mod list;
pub mod put;
pub mod stand;
mod view;

pub(in crate::routes::admin) use view::{billed_tenant, scope_of};

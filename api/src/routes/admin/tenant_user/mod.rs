//! `/v1/admin/tenants/{id}/users`: a tenant's users, for operators.

pub mod create;
pub mod get;
pub mod list;
pub mod put;
pub mod remove;

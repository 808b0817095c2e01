//! `/v1/users`: a tenant's people.

pub mod change;
pub mod create;
pub mod get;
pub mod list;
pub mod put;
pub mod view;

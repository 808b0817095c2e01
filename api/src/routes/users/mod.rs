//! `/v1/users`: a tenant's people.

pub mod change;
pub mod create;
pub mod list;
pub mod view;

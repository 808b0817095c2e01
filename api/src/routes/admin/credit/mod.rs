//! `/v1/admin/tenants/{id}/credits`: credits and refunds of a tenant.

pub mod create;
pub mod list;
mod view;

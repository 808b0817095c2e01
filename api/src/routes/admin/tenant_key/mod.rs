//! `/v1/admin/tenants/{id}/keys`: a tenant's API keys, for operators. Those that operators create belong to no user of the tenant.

pub mod create;
pub mod list;
mod place;
pub mod revoke;
pub mod rotate;

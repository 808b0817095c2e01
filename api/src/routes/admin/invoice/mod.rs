//! `/v1/admin/tenants/{id}/invoices`: a tenant's invoices, as operators see and end them.

pub mod finalize;
pub mod get;
pub mod list;
pub mod settle;

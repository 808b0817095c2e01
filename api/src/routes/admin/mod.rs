//! `/v1/admin/…`: the platform's own operators.

pub mod canary;
pub mod costs;
pub mod credit;
pub mod executor;
pub mod invoice;
mod named;
pub mod operator;
pub mod operator_key;
pub mod plan;
pub mod pool;
pub mod price_book;
pub mod restore;
pub mod tenant;
pub mod tenant_key;
pub mod tenant_user;
pub mod usage_events;

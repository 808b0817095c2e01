//! `/v1/admin/…`: the platform's own operators.

pub mod operator;
pub mod plan;
pub mod pool;
pub mod tenant;

//! `/v1/admin/operator-keys`: the keys of the platform's own operators.
//!
//! The rule: nobody gives a scope that they do not hold.

pub mod create;
pub mod list;
pub mod revoke;
pub mod rotate;
mod view;

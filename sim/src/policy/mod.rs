//! Scheduling policies: Berth's and others for comparison.

mod berth;
mod eevdf;
mod interface;
mod name;
mod simple;

pub use interface::Policy;
pub use name::PolicyName;

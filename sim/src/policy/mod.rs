//! Who goes next: Berth's own order, and others to compare it with.

mod berth;
mod eevdf;
mod interface;
mod name;
mod simple;

pub use interface::Policy;
pub use name::PolicyName;

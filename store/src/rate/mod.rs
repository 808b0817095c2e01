//! What tenants have submitted in an hour, written down each minute.
//!
//! The count itself lives in Redis, or in an api process that is alone. The rule: what is written only ever rises within its hour, so
//! that processes may write in any order.

mod checkpoint;
mod prune;
mod read;

pub use checkpoint::{HourlyUse, checkpoint};
pub use prune::prune;
pub use read::read;

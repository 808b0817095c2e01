//! How many tasks the batcher hands to the broker, and which.

mod running;
mod select;
mod size;

pub use running::Running;
pub use select::{Candidate, select};
pub use size::{PoolLoad, batch_slots};

//! How many tasks the batcher hands to the broker, and which.

mod candidate;
mod lane;
mod late;
mod pace;
mod queue;
mod running;
mod size;
mod turns;

pub use candidate::{Candidate, ConcurrencyKey, Priority, Turn};
pub use lane::Pick;
pub use running::Running;
pub use size::{PoolLoad, batch_slots};
pub use turns::Turns;

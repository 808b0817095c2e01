//! How many tasks the batcher dispatches, and which.

mod candidate;
mod lane;
mod late;
mod pace;
mod queue;
mod running;
mod size;
mod stop_reason;
mod strand;
mod turns;
mod unread;
mod window;

pub use candidate::{
    Candidate, ConcurrencyKey, ParseConcurrencyKeyError, ParsePriorityError, Priority, Turn,
};
pub use lane::Pick;
pub use running::Running;
pub use size::{PoolLoad, batch_slots};
pub use stop_reason::StopReason;
pub use strand::{Conditions, Strand};
pub use turns::Turns;
pub use window::Window;

//! Retries that wait because their target fails: the tasks, and what holds their targets up.
//!
//! The task's own row says the latest moment at which it goes; a row here lets it go earlier. So a row that is lost costs time,
//! and never a task.

mod hold;
mod let_go;
mod prune;
mod tell;
mod waiting;

pub use hold::HeldRetry;
pub(crate) use hold::hold;
pub use let_go::{LetGo, let_go};
pub use prune::prune;
pub use tell::{TargetWord, tell};
pub use waiting::{Waiting, waiting};

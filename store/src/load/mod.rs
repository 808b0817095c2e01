//! What each resource manager has to give: a hint for sizing batches, never a limit.

mod lacks;
mod prune;
mod read;
mod report;

pub(crate) use lacks::of_json;
pub use prune::prune;
pub use read::{LoadOfPool, OwnerLoad, read};
pub use report::{PoolReport, forget, report};

//! The one place that spawns: every task has a name, its panic is seen, and its end is waited for.
//!
//! A role makes one `TaskGroup`, spawns and supervises into it, and at the end waits for it with a
//! limit. A task that nobody watches is a loop that stopped last Tuesday.

mod caught;
mod group;
mod handle;
mod supervise;

pub(crate) use caught::caught;
pub(crate) use group::report_panic;
pub use group::{StillRunning, TaskGroup};
pub use handle::{TaskEnded, TaskHandle};
pub use supervise::Ending;

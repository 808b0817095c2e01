//! Runs of workflows.
//!
//! A run and its tasks are stored together. It ends when all its tasks have: the statement that ends a task writes it into the tally, the
//! schedulers count that into the run ([`count_ends`]), and the last one ends it. A run that is stopped, by its owner or at its deadline,
//! has its tasks cancelled by the schedulers ([`stop_piece`]), a piece at a time.

mod cancel;
mod count;
mod forget;
mod list;
mod make;
mod nodes;
mod record;
mod start;
mod stop;
mod usage;

pub use cancel::{CancelRunAnswer, cancel};
pub use count::{CountedEnds, count_ends};
pub use forget::forget_ended;
pub use list::{RunFilter, get, list};
pub(super) use make::item;
pub use make::{NewRun, RunOf};
pub(super) use nodes::ends;
pub use nodes::{ItemTasks, NodeRecord, items, nodes};
pub use record::RunRecord;
pub use start::{StartAnswer, start};
pub(crate) use start::{start_in, unfinished};
pub(crate) use stop::replaced_in;
pub use stop::{StoppedPiece, stop_piece};
pub use usage::{RunUsage, usage};

//! Fires: due times that have come, and what is written of them.
//!
//! For the schedulers, across tenants. Every statement that writes names the shards it writes for and the epochs under which they
//! are owned, and holds their rows until it has committed: what an old owner wants to write is not written.

mod awaited;
mod backfill;
mod count_ends;
mod count_runs;
mod facts;
mod fence;
mod made;
mod missed;
mod moves;
mod outdated;
mod past;
mod pause_unreadable;
mod record;
mod room;
mod starts;
mod verdict;
mod window;
mod write;

pub use awaited::{Awaited, awaited, resume_after};
pub use backfill::{BackfillStep, DueBackfill, backfill_step, backfills, postpone_backfill};
pub use count_ends::{CountedEnds, PausedForFailures, count_ends};
pub use count_runs::count_run_ends;
pub use missed::{Missed, tell_missed};
pub use outdated::{MovedDue, Outdated, move_due, outdated};
pub use pause_unreadable::{Unreadable, pause_unreadable};
pub use record::{Facts, PastState, Span};
pub use room::rooms;
pub use starts::{FiredRuns, Starts, TASKS_AT_ONCE};
pub use verdict::{Verdict, VerdictRow};
pub use window::{Due, clock, window};
pub use write::{Firing, Written, write, write_starting};

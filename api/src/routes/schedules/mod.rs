//! `/v1/schedules`: what makes tasks or starts runs when it is due, what became of each due time, and what comes next.

pub mod backfill;
pub mod delete;
pub mod fires;
pub mod get;
pub mod list;
pub mod pause;
mod place;
pub mod preview;
pub mod put;
pub mod resume;
pub mod trigger;
mod trigger_run;

pub(crate) use place::schedule_of;
pub(super) use place::{MAX_NAME, is_name, no_such_schedule, run_now};
pub(super) use put::{LookedAt, is_stored, look, never_fires};

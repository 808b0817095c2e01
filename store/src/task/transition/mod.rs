//! The only code that writes a task's state: one event a file, each one statement over arrays.
//!
//! Every statement names the state it expects and the token of whoever acts (dispatch epoch or lease),
//! and answers per row. The legal moves are those of [`domain::task::next`]; a test runs each event here
//! from each state and compares.
//!
//! Two habits keep the cost of a row the same however many rows there are. The key's first column is matched as
//! `t.tenant_id = any (array[i.tenant_id])`: that can only be looked up in the key's index, row by row in the caller's order
//! (tenant, task), which is the lock order. Plain equality leaves the planner a second way, to read the whole index, which
//! it takes when it last saw the table empty, and keeps while the table fills. For the same reason an expected state is
//! a parameter where an index knows the state, and single rows are read in a `lateral (... limit 1)`. A test looks at the plans.

mod answer;
mod attempt_aborted;
mod attempt_failed;
mod attempt_killed;
mod attempts_exhausted;
mod called;
mod cancel_requested;
mod change;
mod completed;
mod dispatch_stale;
mod dispatch_undone;
mod dispatched;
mod due;
mod end;
mod expired;
mod handed_back;
mod lease_end;
mod lease_lapsed;
mod marked_succeeded;
mod not_started;
mod placed;
mod pool_deleted;
mod postponed;
mod prepare_failed;
mod prepared;
mod recalled;
mod rejected;
mod release;
mod released;
mod returned_again;
mod run_now;
mod run_stopped;
mod skipped;
mod stopped;
mod tenant_deleted;
mod unplaced;
mod wait_over;

pub use answer::TransitionResult;
pub use attempt_aborted::attempt_aborted;
pub use attempt_failed::{FailedAttempt, attempt_failed};
pub use attempt_killed::attempt_killed;
pub use attempts_exhausted::attempts_exhausted;
pub use called::called;
pub(crate) use cancel_requested::cancel_requested_in;
pub use cancel_requested::{CancelAnswer, cancel_requested};
pub use completed::completed;
pub use dispatch_stale::dispatch_stale;
pub use dispatched::dispatched;
pub use due::due;
pub use expired::expired;
pub use handed_back::handed_back;
pub use lease_end::EndedAttempt;
pub(crate) use lease_end::end_lease_in;
pub(crate) use lease_lapsed::lease_lapsed_of_sessions;
pub use lease_lapsed::{LapsedLease, lease_lapsed};
pub use marked_succeeded::marked_succeeded;
pub(crate) use marked_succeeded::marked_succeeded_in;
pub use not_started::not_started;
pub use placed::{Claim, Placed, SessionEpoch, placed};
pub use pool_deleted::pool_deleted;
pub use postponed::postponed;
pub(crate) use postponed::postponed_in;
pub use prepare_failed::prepare_failed;
pub(crate) use prepare_failed::prepare_failed_in;
pub(crate) use prepared::prepared_in;
pub use prepared::{PreparedTask, prepared};
pub use recalled::recalled;
pub(crate) use recalled::recalled_in;
pub use rejected::rejected;
pub(crate) use rejected::rejected_in;
pub use released::{ReleasedPiece, released};
pub use returned_again::returned_again;
pub use run_now::run_now;
pub(crate) use run_now::run_now_in;
pub(crate) use run_stopped::run_stopped;
pub(crate) use skipped::skipped_in;
pub use skipped::{DoomedTask, skipped};
pub use stopped::stopped;
pub use tenant_deleted::{EndedTasks, tenant_deleted};
pub use unplaced::unplaced;
pub(crate) use wait_over::wait_over_in;
pub use wait_over::{WaitOver, wait_over};

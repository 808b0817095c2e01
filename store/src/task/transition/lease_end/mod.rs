//! What all ends of a lease share: the row moves on or into history, and the attempt is written, in one statement.
//!
//! Not an event itself; called by the event files beside it. The states come from the table in `domain`. The
//! compare-and-set is on (state, attempt, session): a late report under an old lease finds no row and is told so.

mod alone;
mod ended_attempt;
mod for_good;
mod one;
mod row;
mod to_go_on;
mod what_stands;
mod with_results;

pub(super) use alone::{for_good_alone, to_go_on_alone, with_results_alone};
pub use ended_attempt::EndedAttempt;
pub(super) use for_good::for_good;
pub(crate) use one::end_lease_in;
pub(super) use row::{EndedLease, in_lock_order};
pub(super) use to_go_on::to_go_on;

//! `stopped`: the executor confirmed that it stopped a cancelled attempt.
//!
//! From cancelling only: a stop that nobody asked for is no end of a task.

use super::TransitionResult;
use super::lease_end::{EndedAttempt, for_good_alone};
use crate::StoreError;
use crate::connect::RmDb;
use domain::task::Event;

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn stopped(
    db: &RmDb,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    for_good_alone(db, Event::Stopped, ended).await
}

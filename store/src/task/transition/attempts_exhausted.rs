//! `attempts_exhausted`: the attempt failed and no other may follow.
//!
//! From running the task ends failed (a dead letter, kept with its spec); from cancelling, cancelled.

use super::TransitionResult;
use super::lease_end::{EndedAttempt, for_good_alone};
use crate::StoreError;
use crate::connect::RmDb;
use domain::task::Event;

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn attempts_exhausted(
    db: &RmDb,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    for_good_alone(db, Event::AttemptsExhausted, ended).await
}

//! `attempt_malformed`: a resource manager has the lease and finds that nobody can run what is stored.
//!
//! From running the task ends failed, uncharged: no executor was told of it. From cancelling, cancelled.

use super::Answer;
use super::lease_end::{EndedAttempt, for_good_alone};
use crate::StoreError;
use crate::connect::RmDb;
use domain::task::Event;

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn attempt_malformed(
    db: &RmDb,
    ended: &[EndedAttempt],
) -> Result<Vec<Answer>, StoreError> {
    for_good_alone(db, Event::AttemptMalformed, ended).await
}

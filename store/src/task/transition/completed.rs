//! `completed`: the attempt did what it was asked.
//!
//! From running, and from cancelling too: what was done before the stop arrived counts as done.

use super::TransitionResult;
use super::lease_end::{EndedAttempt, for_good_alone};
use crate::StoreError;
use crate::connect::RmDb;
use domain::task::Event;

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn completed(
    db: &RmDb,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    for_good_alone(db, Event::Completed, ended).await
}

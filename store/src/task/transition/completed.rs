//! `completed`: the attempt did what it was asked.
//!
//! From running, and from cancelling too: what was done before the stop arrived counts as done.

use super::TransitionResult;
use super::lease_end::{EndedAttempt, for_good_alone, with_results_alone};
use crate::StoreError;
use crate::connect::RmDb;
use domain::task::Event;

/// Raises the event over many leases, each under its own fence; answers in order. What a task returned is stored with it.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn completed(
    db: &RmDb,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    if ended.iter().any(|ended| ended.value.is_some()) {
        with_results_alone(db, ended).await
    } else {
        for_good_alone(db, Event::Completed, ended).await
    }
}

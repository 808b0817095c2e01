//! `attempt_failed`: the attempt failed and another will come.
//!
//! From running the task goes to retrying, due after the back-off, with a fresh start deadline; from
//! cancelling it ends cancelled.

use super::Answer;
use super::lease_end::{EndedAttempt, to_go_on};
use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::repeated;
use domain::task::Event;
use domain::time::millis;
use std::time::Duration;

/// A failed attempt and the wait before the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// How it ended.
    pub ended: EndedAttempt,
    /// Wait before the task is due again, as [`domain::task::decide_retry`] gave it.
    pub retry_after: Duration,
}

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn attempt_failed(
    db: &RmDb,
    failed: &[FailedAttempt],
) -> Result<Vec<Answer>, StoreError> {
    let ended: Vec<_> = failed.iter().map(|f| f.ended.clone()).collect();
    let delays: Vec<_> = failed.iter().map(|f| millis(f.retry_after)).collect();
    repeated(|| async {
        to_go_on(&mut *db.pool().acquire().await?, Event::AttemptFailed, &ended, &delays).await
    })
    .await
}

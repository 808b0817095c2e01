//! `attempt_failed`: the attempt failed, or was killed where its task's policy retries that, and another will come.
//!
//! From running the task goes to retrying, due after the back-off, with a fresh start deadline; from
//! cancelling it ends cancelled. Where its target is not to be called again yet, what it waits for is written in the same
//! transaction: see [`crate::held_retry`].

use super::TransitionResult;
use super::lease_end::{EndedAttempt, to_go_on, to_go_on_alone};
use crate::StoreError;
use crate::connect::RmDb;
use crate::held_retry::{HeldRetry, hold};
use crate::statement::{named, repeated};
use domain::task::{Event, State};
use domain::time::millis;
use std::time::Duration;

/// A failed attempt and the wait before the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// How it ended.
    pub ended: EndedAttempt,
    /// Wait before the task is due again, as [`domain::task::decide_retry`] gave it.
    pub retry_after: Duration,
    /// It waits for its target, and goes earlier than `retry_after` when that may be called again.
    pub held: Option<HeldRetry>,
}

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn attempt_failed(
    db: &RmDb,
    failed: &[FailedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    let ended: Vec<_> = failed.iter().map(|f| f.ended.clone()).collect();
    let delays: Vec<_> = failed.iter().map(|f| millis(f.retry_after)).collect();
    if failed.iter().all(|f| f.held.is_none()) {
        return to_go_on_alone(db, Event::AttemptFailed, &ended, &delays).await;
    }
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        let answers = to_go_on(&mut tx, Event::AttemptFailed, &ended, &delays).await?;
        let waits =
            |answer: &TransitionResult| *answer == TransitionResult::Applied(State::Retrying);
        let held = failed.iter().zip(&answers).filter(|(_, answer)| waits(answer));
        let held: Vec<_> = held
            .filter_map(|(f, _)| Some((f.ended.lease, f.held.as_ref()?, f.retry_after)))
            .collect();
        if !held.is_empty() {
            hold(&mut tx, &held).await?;
        }
        named("commit", tx.commit()).await?;
        Ok(answers)
    })
    .await
}

//! `returned_again`: an attempt came back (never started, handed back or lost), and not for the first time.
//!
//! From running the task goes to retrying for the time given, keeps its place, and is charged nothing; from cancelling it ends
//! cancelled. How long it waits is decided by `domain::task::wait_after_return`.

use super::TransitionResult;
use super::lease_end::{EndedAttempt, to_go_on_alone};
use crate::StoreError;
use crate::connect::RmDb;
use domain::task::Event;
use domain::time::millis;
use std::time::Duration;

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn returned_again(
    db: &RmDb,
    ended: &[EndedAttempt],
    waits: &[Duration],
) -> Result<Vec<TransitionResult>, StoreError> {
    let waits: Vec<i64> = waits.iter().map(|wait| millis(*wait)).collect();
    to_go_on_alone(db, Event::ReturnedAgain, ended, &waits).await
}

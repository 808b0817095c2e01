//! `handed_back`: a draining executor gave the attempt back unfinished.
//!
//! From running the task goes back to ready, keeps its place, and is charged nothing; from cancelling it ends cancelled.

use super::TransitionResult;
use super::lease_end::{EndedAttempt, to_go_on_alone};
use crate::StoreError;
use crate::connect::RmDb;
use domain::task::Event;

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn handed_back(
    db: &RmDb,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    to_go_on_alone(db, Event::HandedBack, ended, &[]).await
}

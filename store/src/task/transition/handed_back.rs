//! `handed_back`: a draining executor gave the attempt back unfinished.
//!
//! From running the task goes back to ready, keeps its place, and is charged nothing; from cancelling it ends cancelled.

use super::Answer;
use super::lease_end::{EndedAttempt, to_go_on};
use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::repeated;
use domain::task::Event;

/// Raises the event over many leases, each under its own fence; answers in order.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn handed_back(db: &RmDb, ended: &[EndedAttempt]) -> Result<Vec<Answer>, StoreError> {
    repeated(|| async {
        to_go_on(&mut *db.pool().acquire().await?, Event::HandedBack, ended, &[]).await
    })
    .await
}

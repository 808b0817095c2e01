//! Ends of leases with which nothing else happens: a statement that is a transaction of its own, tried again where it met others.

use super::with_results::with_results;
use super::{EndedAttempt, for_good, to_go_on};
use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::repeated;
use crate::task::transition::TransitionResult;
use domain::task::Event;

/// Moves each row into history.
pub(in super::super) async fn for_good_alone(
    db: &RmDb,
    event: Event,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    repeated(|| async {
        let mut connection = db.settling().acquire().await?;
        let answers = for_good(&mut connection, event, ended).await;
        connection.after(answers)
    })
    .await
}

/// Completes each row's task, and stores what it returned.
pub(in super::super) async fn with_results_alone(
    db: &RmDb,
    ended: &[EndedAttempt],
) -> Result<Vec<TransitionResult>, StoreError> {
    repeated(|| async {
        let mut connection = db.settling().acquire().await?;
        let answers = with_results(&mut connection, ended).await;
        connection.after(answers)
    })
    .await
}

/// Moves each row on, the failed ones after `delays` (in ms).
pub(in super::super) async fn to_go_on_alone(
    db: &RmDb,
    event: Event,
    ended: &[EndedAttempt],
    delays: &[i64],
) -> Result<Vec<TransitionResult>, StoreError> {
    repeated(|| async {
        let mut connection = db.settling().acquire().await?;
        let answers = to_go_on(&mut connection, event, ended, delays).await;
        connection.after(answers)
    })
    .await
}

//! Stores one request's batch, with one idempotency key for the whole call.

use super::insert::in_transaction;
use super::{NewTask, SubmitAnswer};
use crate::connect::SubmitDb;
use crate::idempotency::{Begun, IdempotencyKey, put_answer, take};
use crate::statement::{named, repeated};
use crate::{StoreError, TenantScope};
use domain::id::TaskId;

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchAnswer {
    /// Stored; the answer as rendered.
    Fresh(Vec<u8>),
    /// Stored before; the same answer, byte for byte.
    Replayed(Vec<u8>),
    /// The key was used with another body.
    KeyReused,
    /// Nothing was stored: of each task, in order, the parents that its tenant does not have.
    UnknownParents(Vec<Vec<TaskId>>),
}

/// Stores `tasks` of one tenant and, where there is a `key`, the answer that `render` makes of the verdicts, in
/// one transaction.
///
/// # Errors
/// When the database cannot answer. [`StoreError::outcome_unknown`] tells whether it may have been stored.
pub async fn insert_batch(
    db: &SubmitDb,
    scope: &TenantScope,
    key: Option<&IdempotencyKey>,
    tasks: &[NewTask],
    render: impl Fn(&[SubmitAnswer]) -> Vec<u8>,
) -> Result<BatchAnswer, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        if let Some(key) = key {
            match take(&mut tx, scope, key).await? {
                Begun::Fresh => {}
                Begun::Replayed { body, .. } => return Ok(BatchAnswer::Replayed(body)),
                Begun::KeyReused => return Ok(BatchAnswer::KeyReused),
                // Its row and its answer are committed together, so this cannot be seen; trying again is right if it is.
                Begun::Unfinished => return Err(StoreError::Contended),
            }
        }
        let answers =
            if tasks.is_empty() { Vec::new() } else { in_transaction(&mut tx, tasks).await? };
        if let Some(unknown) = unknown_parents(&answers) {
            return Ok(BatchAnswer::UnknownParents(unknown));
        }
        let body = render(&answers);
        if let Some(key) = key {
            put_answer(&mut tx, scope, key, 200, &body).await?;
        }
        named("commit", tx.commit()).await?;
        Ok(BatchAnswer::Fresh(body))
    })
    .await
}

/// Of each task, the parents that are unknown; `None` where there are none at all.
fn unknown_parents(answers: &[SubmitAnswer]) -> Option<Vec<Vec<TaskId>>> {
    let of = |answer: &SubmitAnswer| match answer {
        SubmitAnswer::UnknownParents(unknown) => unknown.clone(),
        SubmitAnswer::Created(_)
        | SubmitAnswer::Existing(_)
        | SubmitAnswer::Replayed(_)
        | SubmitAnswer::OverCap(_)
        | SubmitAnswer::KeyReused => Vec::new(),
    };
    let unknown: Vec<Vec<TaskId>> = answers.iter().map(of).collect();
    unknown.iter().any(|unknown| !unknown.is_empty()).then_some(unknown)
}

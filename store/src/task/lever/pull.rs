//! `retry`, `run-now` and `mark-succeeded`: a lever that moves the task itself.
//!
//! With an idempotency key it is done once, and the key and its answer are stored with the move. Where the lever makes a new task
//! instead, that one is submitted by the caller, under the same key.

use super::standing::{Standing, standing};
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::idempotency::{Begun, IdempotencyKey, Once, put_answer, take};
use crate::statement::{named, repeated};
use crate::task::get::get_in;
use crate::task::record::TaskRecord;
use crate::task::transition::{marked_succeeded_in, run_now_in};
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::task::{Effect, Lever, Refusal, State};
use serde_json::json;
use sqlx::PgConnection;

/// Which lever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PulledLever<'a> {
    /// [`Lever::Retry`].
    Retry,
    /// [`Lever::RunNow`].
    RunNow,
    /// [`Lever::MarkSucceeded`].
    MarkSucceeded {
        /// How it was done, or why it need not be.
        note: &'a str,
    },
}

impl PulledLever<'_> {
    const fn lever(self) -> Lever {
        match self {
            Self::Retry => Lever::Retry,
            Self::RunNow => Lever::RunNow,
            Self::MarkSucceeded { .. } => Lever::MarkSucceeded,
        }
    }

    const fn action(self) -> AuditAction {
        match self {
            Self::Retry => AuditAction::TaskRetry,
            Self::RunNow => AuditAction::TaskRunNow,
            Self::MarkSucceeded { .. } => AuditAction::TaskMarkSucceeded,
        }
    }
}

/// A lever of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pull<'a> {
    /// Of which task.
    pub task: TaskId,
    /// Which lever.
    pub lever: PulledLever<'a>,
    /// With an idempotency key it is done once.
    pub once: Option<&'a IdempotencyKey>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub enum LeverAnswer {
    /// The task moved, and is so now.
    Done(Box<TaskRecord>),
    /// The task was so before.
    Nothing(Box<TaskRecord>),
    /// The task stays as it is: a new one that runs it again is to be submitted ([`super::rerun`]).
    NewTask,
    /// Nothing was done.
    Refused(Refusal),
    /// This tenant has no such task.
    NotFound,
}

/// Pulls a lever; `answer` is kept for the same idempotency key. Wake the batcher (`Topic::Batcher`) when a task is ready then.
///
/// # Errors
/// When the database cannot answer. [`StoreError::outcome_unknown`] tells whether it may have been done.
pub async fn pull(
    db: &ApiDb,
    scope: &TenantScope,
    pull: Pull<'_>,
    answer: impl Fn(&TaskRecord) -> Vec<u8>,
) -> Result<Once<LeverAnswer>, StoreError> {
    repeated(|| async {
        let mut tx = crate::task::scoped(db, scope).await?;
        if let Some(key) = pull.once {
            match take(&mut tx, scope, key).await? {
                Begun::Fresh => {}
                Begun::Replayed { status, body } => return Ok(Once::Replayed { status, body }),
                Begun::KeyReused => return Ok(Once::KeyReused),
                // It stands for the task that was made then.
                Begun::Unfinished if pull.lever == PulledLever::Retry => {
                    return Ok(Once::Done(LeverAnswer::NewTask));
                }
                Begun::Unfinished => return Err(StoreError::Contended),
            }
        }
        let Some(stood) = standing(&mut tx, scope, pull.task).await? else {
            return Ok(Once::Done(LeverAnswer::NotFound));
        };
        let effect = match Effect::of(pull.lever.lever(), stood.state) {
            // Time is not what it waits for.
            Ok(Effect::DueNow) if stood.is_held => {
                return Ok(Once::Done(LeverAnswer::Refused(Refusal::Waiting)));
            }
            Ok(Effect::NewTask) => return Ok(Once::Done(LeverAnswer::NewTask)),
            Ok(effect) => effect,
            Err(refusal) => return Ok(Once::Done(LeverAnswer::Refused(refusal))),
        };
        let moved = raise(&mut tx, scope, &pull, (effect, stood)).await?;
        let Some(task) = get_in(&mut tx, scope, pull.task).await? else {
            return Ok(Once::Done(LeverAnswer::NotFound));
        };
        if let Some(key) = pull.once {
            put_answer(&mut tx, scope, key, 200, &answer(&task)).await?;
        }
        named("commit", tx.commit()).await?;
        let task = Box::new(task);
        Ok(Once::Done(if moved { LeverAnswer::Done(task) } else { LeverAnswer::Nothing(task) }))
    })
    .await
}

/// Raises the event of `effect`, with its row of the audit; whether there is one.
async fn raise(
    tx: &mut PgConnection,
    scope: &TenantScope,
    pull: &Pull<'_>,
    (effect, stood): (Effect, Standing),
) -> Result<bool, StoreError> {
    let tenant = scope.tenant();
    let (moved, after) = match (effect, pull.lever) {
        (Effect::DueNow, _) => {
            (run_now_in(tx, tenant, pull.task).await?, json!({"state": State::Ready}))
        }
        (Effect::Succeeds, PulledLever::MarkSucceeded { note }) => (
            marked_succeeded_in(tx, tenant, pull.task, note).await?,
            json!({"state": State::Succeeded, "note": note}),
        ),
        _ => return Ok(false),
    };
    if !moved {
        // It is locked, so this cannot be; to begin again is right if it is.
        return Err(StoreError::Contended);
    }
    let act = Act::new(pull.lever.action(), pull.task)
        .from(json!({"state": stood.state, "run_at": stood.run_at}))
        .to(after);
    audit::record(tx, scope, act).await?;
    Ok(true)
}

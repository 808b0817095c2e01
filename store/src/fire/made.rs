//! Stores the tasks of due times, and says of due times that their task was not made.

use crate::StoreError;
use crate::spend::CapRefusal;
use crate::statement::named;
use crate::task::submit::{NewTask, SubmitAnswer, in_transaction};
use domain::id::TaskId;
use domain::schedule::Outcome;
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

/// A row of the ledger, by its tenant, its schedule and its due time, and what is to be noted of it.
pub(super) type Noted = ((Uuid, Uuid, Timestamp), Outcome, String);

/// Why a due time made no task after all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotMade {
    /// An unfinished task holds its unique key.
    Held(TaskId),
    /// A spend cap has no room.
    OverCap(Box<CapRefusal>),
}

impl NotMade {
    pub(super) const fn outcome(&self) -> Outcome {
        match self {
            Self::Held(_) => Outcome::SkippedOverlap,
            Self::OverCap(_) => Outcome::ShedSpendCap,
        }
    }

    /// What is said of the due time.
    pub(super) fn detail(&self) -> String {
        match self {
            Self::Held(holder) => format!("`{holder}` holds the unique key of its tasks"),
            Self::OverCap(refusal) => refusal.to_string(),
        }
    }
}

/// Says of rows of the ledger that they made no task.
pub(super) async fn skipped(tx: &mut PgConnection, rows: &[Noted]) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update schedule_fire f set outcome = i.outcome, task_id = null, detail = i.detail
            from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[])
                as i(tenant_id, schedule_id, due_at, detail, outcome)
            where f.tenant_id = any (array[i.tenant_id]) and f.schedule_id = i.schedule_id and f.due_at = i.due_at",
        &rows.iter().map(|((tenant, _, _), ..)| *tenant).collect::<Vec<_>>(),
        &rows.iter().map(|((_, schedule, _), ..)| *schedule).collect::<Vec<_>>(),
        &rows.iter().map(|((_, _, due_at), ..)| *due_at).collect::<Vec<_>>(),
        &rows.iter().map(|(.., detail)| detail.clone()).collect::<Vec<_>>(),
        &rows.iter().map(|(_, outcome, _)| outcome.as_str().to_owned()).collect::<Vec<_>>()
    );
    named("fire.skipped", query.execute(tx)).await.map(|_| ())
}

/// Stores tasks; for those that were not stored, why.
pub(super) async fn submit(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<HashMap<TaskId, NotMade>, StoreError> {
    if tasks.is_empty() {
        return Ok(HashMap::new());
    }
    let answers = in_transaction(tx, tasks).await?;
    let refused = tasks.iter().zip(answers).filter_map(|(task, answer)| match answer {
        SubmitAnswer::Existing(holder) => Some((task.id, NotMade::Held(holder))),
        SubmitAnswer::OverCap(refusal) => Some((task.id, NotMade::OverCap(refusal))),
        // They have no idempotency key.
        SubmitAnswer::Created(_)
        | SubmitAnswer::Replayed(_)
        | SubmitAnswer::KeyReused
        | SubmitAnswer::UnknownParents(_) => None,
    });
    Ok(refused.collect())
}

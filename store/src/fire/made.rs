//! Stores the tasks of due times, and says of due times that their task was not made.

use crate::StoreError;
use crate::statement::named;
use crate::task::submit::{NewTask, SubmitAnswer, in_transaction};
use domain::id::TaskId;
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

/// A row of the ledger, and what is to be noted of it: its tenant, its schedule, its due time.
pub(super) type Noted = ((Uuid, Uuid, Timestamp), String);

/// Says of rows of the ledger that they made no task.
pub(super) async fn skipped(tx: &mut PgConnection, rows: &[Noted]) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update schedule_fire f set outcome = 'skipped_overlap', task_id = null, detail = i.detail
            from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[]) as i(tenant_id, schedule_id, due_at, detail)
            where f.tenant_id = any (array[i.tenant_id]) and f.schedule_id = i.schedule_id and f.due_at = i.due_at",
        &rows.iter().map(|((tenant, _, _), _)| *tenant).collect::<Vec<_>>(),
        &rows.iter().map(|((_, schedule, _), _)| *schedule).collect::<Vec<_>>(),
        &rows.iter().map(|((_, _, due_at), _)| *due_at).collect::<Vec<_>>(),
        &rows.iter().map(|(_, detail)| detail.clone()).collect::<Vec<_>>()
    );
    named("fire.skipped", query.execute(tx)).await.map(|_| ())
}

/// What is said of a due time whose task was not made.
pub(super) fn held_by(holder: TaskId) -> String {
    format!("`{holder}` holds the unique key of its tasks")
}

/// Stores tasks; for those that were not stored, which task lives with their unique key.
pub(super) async fn submit(
    tx: &mut PgConnection,
    tasks: &[NewTask],
) -> Result<HashMap<TaskId, TaskId>, StoreError> {
    if tasks.is_empty() {
        return Ok(HashMap::new());
    }
    let answers = in_transaction(tx, tasks).await?;
    let refused = tasks.iter().zip(answers).filter_map(|(task, answer)| match answer {
        SubmitAnswer::Existing(holder) => Some((task.id, holder)),
        // They have no idempotency key.
        SubmitAnswer::Created(_)
        | SubmitAnswer::Replayed(_)
        | SubmitAnswer::KeyReused
        | SubmitAnswer::UnknownParents(_) => None,
    });
    Ok(refused.collect())
}

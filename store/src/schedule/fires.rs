//! A schedule's ledger: every due time and what became of it, latest first.

use super::find::id_of;
use super::record::{FireKind, FireRecord, read_text};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{MOST_READ, PageOf, StoreError, TenantScope};
use domain::id::{ScheduleId, TaskId, WorkflowRunId};
use domain::schedule::Outcome;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// Which fires. Everything left out means all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FireFilter {
    /// Of one of these outcomes.
    pub outcomes: Vec<Outcome>,
    /// Due before this: the cursor.
    pub before: Option<Timestamp>,
}

/// Fires of the tenant's schedule of this name, latest due time first, at most `limit`; `None`: there is no such schedule.
///
/// # Errors
/// When the database cannot answer.
pub async fn fires(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    filter: &FireFilter,
    limit: u32,
) -> Result<Option<PageOf<FireRecord, Timestamp>>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let Some(id) = id_of(&mut tx, scope, name).await? else { return Ok(None) };
    let bound = bound(&mut tx, (scope, id), filter).await?;
    let outcomes: Vec<_> = filter.outcomes.iter().map(|one| one.as_str().to_owned()).collect();
    let query = sqlx::query!(
        "select due_at, outcome, kind, fired_at, task_id, run_id, version, detail from schedule_fire
            where tenant_id = $1 and schedule_id = $2 and ($3::timestamptz is null or due_at < $3)
                and (cardinality($4::text[]) = 0 or outcome = any ($4)) and ($6::timestamptz is null or due_at >= $6)
            order by due_at desc limit $5",
        scope.tenant().uuid(),
        id.uuid(),
        filter.before,
        &outcomes,
        i64::from(limit),
        bound
    );
    let rows = patient("schedule.fires", query.fetch_all(&mut *tx)).await?;
    let fires = rows.into_iter().map(|row| {
        Ok(FireRecord {
            due_at: row.due_at,
            outcome: read_text("outcome", id, &row.outcome)?,
            kind: read_text::<FireKind>("kind", id, &row.kind)?,
            fired_at: row.fired_at,
            task: row.task_id.map(TaskId),
            run: row.run_id.map(WorkflowRunId),
            version: row.version,
            detail: row.detail,
        })
    });
    let fires = fires.collect::<Result<_, StoreError>>()?;
    Ok(Some(PageOf::until(bound, fires, limit)))
}

/// The last fire that a page may read, where only some outcomes are wanted and there are so many.
async fn bound(
    tx: &mut PgConnection,
    (scope, id): (&TenantScope, ScheduleId),
    filter: &FireFilter,
) -> Result<Option<Timestamp>, StoreError> {
    if filter.outcomes.is_empty() {
        return Ok(None);
    }
    let query = sqlx::query_scalar!(
        "select due_at from schedule_fire
            where tenant_id = $1 and schedule_id = $2 and ($3::timestamptz is null or due_at < $3)
            order by due_at desc offset $4 limit 1",
        scope.tenant().uuid(),
        id.uuid(),
        filter.before,
        MOST_READ - 1
    );
    Ok(patient("schedule.fires_bound", query.fetch_all(tx)).await?.pop())
}

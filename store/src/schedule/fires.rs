//! A schedule's ledger: every due time and what became of it, latest first.

use super::find::id_of;
use super::record::{FireKind, FireRecord, read_text};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::schedule::Outcome;
use domain::time::Timestamp;

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
) -> Result<Option<Vec<FireRecord>>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let Some(id) = id_of(&mut tx, scope, name).await? else { return Ok(None) };
    let outcomes: Vec<_> = filter.outcomes.iter().map(|one| one.as_str().to_owned()).collect();
    let query = sqlx::query!(
        "select due_at, outcome, kind, fired_at, task_id, version, detail from schedule_fire
            where tenant_id = $1 and schedule_id = $2 and ($3::timestamptz is null or due_at < $3)
                and (cardinality($4::text[]) = 0 or outcome = any ($4))
            order by due_at desc limit $5",
        scope.tenant().uuid(),
        id.uuid(),
        filter.before,
        &outcomes,
        i64::from(limit)
    );
    let rows = patient("schedule.fires", query.fetch_all(&mut *tx)).await?;
    let fires = rows.into_iter().map(|row| {
        Ok(FireRecord {
            due_at: row.due_at,
            outcome: read_text("outcome", id, &row.outcome)?,
            kind: read_text::<FireKind>("kind", id, &row.kind)?,
            fired_at: row.fired_at,
            task: row.task_id.map(TaskId),
            version: row.version,
            detail: row.detail,
        })
    });
    fires.collect::<Result<_, StoreError>>().map(Some)
}

//! Which tasks of one tenant have changed since the last read.

use crate::connect::ApiDb;
use crate::scoped::scoped_read_for_all;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;

/// All transactions before this one have ended: what they wrote has been read, and nothing is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Horizon(i64);

/// What one read found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// Where the next read goes on.
    pub horizon: Option<Horizon>,
    /// Each task that changed, in any order.
    pub tasks: Vec<TaskId>,
}

/// Which of `tasks` have changed since the read that gave `since`; without it none, only where to go on from.
///
/// # Errors
/// When the database cannot answer.
pub async fn changes(
    db: &ApiDb,
    scope: &TenantScope,
    since: Option<Horizon>,
    tasks: &[TaskId],
) -> Result<Changes, StoreError> {
    let ids: Vec<_> = tasks.iter().map(|id| id.uuid()).collect();
    // One caller reads for all that is followed: no tenant's turn may hold up the others.
    let mut tx = scoped_read_for_all(db, scope).await?;
    let query = sqlx::query!(
        r#"select h.horizon as "horizon!", e.task_id as "task_id?"
            from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon) h
            left join (
                select distinct n.task_id, n.txid from task_event n
                where n.tenant_id = $1 and n.txid >= $2 and n.task_id = any ($3)
                    and n.at > now() - interval '1 day') e on e.txid < h.horizon"#,
        scope.tenant().uuid(),
        since.map_or(i64::MAX, |since| since.0),
        &ids
    );
    let rows = patient("event.changes", query.fetch_all(&mut *tx)).await?;
    let horizon = rows.first().map(|row| Horizon(row.horizon)).or(since);
    let mut tasks: Vec<_> = rows.into_iter().filter_map(|row| Some(TaskId(row.task_id?))).collect();
    tasks.sort_unstable();
    tasks.dedup();
    Ok(Changes { horizon, tasks })
}

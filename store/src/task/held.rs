//! How many tasks each tenant holds of its limit on running ones.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::own::on_own;
use domain::id::TenantId;

/// Tasks queued, running or cancelling now, for each tenant that has any. Costs what is queued and leased, never the backlog.
/// Only the batcher adds to them: while it does not, none of these figures can grow.
///
/// # Errors
/// When the database cannot answer.
pub async fn held(db: &SchedulerDb) -> Result<Vec<(TenantId, u64)>, StoreError> {
    let query = sqlx::query!(
        r#"select h.tenant_id as "tenant_id!", count(*) as "tasks!" from (
                select q.tenant_id from (select name from pool order by name limit 100000) p
                -- The offset keeps the planner from reading the whole index instead of each pool's part.
                cross join lateral (select t.tenant_id from task t where t.pool = p.name and t.state = 'queued' offset 0) q
                union all
                select l.tenant_id from task l where l.session_id is not null and l.wake_at is not null
            ) h group by h.tenant_id"#
    );
    let rows = on_own!(db.dispatch(), "task.held", query.fetch_all);
    Ok(rows.into_iter().map(|row| (TenantId(row.tenant_id), row.tasks.unsigned_abs())).collect())
}

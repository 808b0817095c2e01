//! How many tasks each concurrency key holds of its limit.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::own::on_own;
use domain::batch::ConcurrencyKey;
use domain::id::TenantId;

/// Tasks queued, running or cancelling now, for each key that has any. Costs what is queued and leased, never the backlog.
/// Only the batcher adds to them: while it does not, none of these figures can grow.
///
/// # Errors
/// When the database cannot answer.
pub async fn held(db: &SchedulerDb) -> Result<Vec<((TenantId, ConcurrencyKey), u64)>, StoreError> {
    let query = sqlx::query!(
        r#"select h.tenant_id as "tenant_id!", h.key as "key!", count(*) as "tasks!" from (
                select q.tenant_id, q.concurrency_key collate "C" as key from (select name from pool order by name limit 100000) p
                -- The offset keeps the planner from reading the whole index instead of each pool's part.
                cross join lateral (
                    select t.tenant_id, t.concurrency_key from task t
                    where t.pool = p.name and t.state = 'queued' and t.concurrency_key is not null offset 0) q
                union all
                select l.tenant_id, l.concurrency_key collate "C" from task l
                where l.session_id is not null and l.wake_at is not null and l.concurrency_key is not null
            ) h group by h.tenant_id, h.key"#
    );
    let rows = on_own!(db.dispatch(), "concurrency.held", query.fetch_all);
    Ok(rows
        .into_iter()
        .map(|row| {
            let key = ConcurrencyKey(row.key.into());
            ((TenantId(row.tenant_id), key), row.tasks.unsigned_abs())
        })
        .collect())
}

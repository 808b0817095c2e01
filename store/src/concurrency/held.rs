//! How many tasks each concurrency key holds of its limit.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::batch::ConcurrencyKey;
use domain::id::TenantId;

/// Tasks queued, running or cancelling now, for each key that has any. Costs what keys hold, never the backlog: the index
/// has only these. Only the batcher adds to them: while it does not, none of these figures can grow.
///
/// # Errors
/// When the database cannot answer.
pub async fn held(db: &SchedulerDb) -> Result<Vec<((TenantId, ConcurrencyKey), u64)>, StoreError> {
    let query = sqlx::query!(
        r#"-- All that keys hold.
            select t.tenant_id, t.concurrency_key as "key!", count(*) as "tasks!" from task t
            where t.concurrency_key is not null and t.state in ('queued', 'running', 'cancelling')
            group by t.tenant_id, t.concurrency_key"#
    );
    let rows = named("concurrency.held", query.fetch_all(db.dispatch_pool())).await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let key = ConcurrencyKey(row.key.into());
            ((TenantId(row.tenant_id), key), row.tasks.unsigned_abs())
        })
        .collect())
}

//! Deletes runs that ended long enough ago, with the history of their tasks.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;

/// Deletes up to `limit` runs that ended more than `retention_days` days ago; how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn forget_ended(
    db: &SchedulerDb,
    retention_days: u32,
    limit: i64,
) -> Result<u64, StoreError> {
    let query = sqlx::query!(
        "with picked as materialized (
                select tenant_id, id from workflow_run
                where finished_at < now() - make_interval(days => $1) order by finished_at limit $2 for update skip locked
            ), items as (
                delete from workflow_items i using picked p
                where i.tenant_id = any (array[p.tenant_id]) and i.run_id = p.id
            )
            delete from workflow_run r using picked p where r.tenant_id = any (array[p.tenant_id]) and r.id = p.id",
        i32::try_from(retention_days).unwrap_or(i32::MAX),
        limit
    );
    Ok(named("run.forget", query.execute(db.pool())).await?.rows_affected())
}

//! Deletes the figures of processes that went without a word.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;

/// Deletes figures older than 10 minutes; says how many. Nobody reads them after 3 seconds.
///
/// # Errors
/// When the database cannot answer.
pub async fn prune(db: &SchedulerDb) -> Result<u64, StoreError> {
    let query = sqlx::query!(
        "delete from pool_load where reported_at < clock_timestamp() - interval '10 minutes'"
    );
    Ok(named("load.prune", query.execute(db.pool())).await?.rows_affected())
}

//! Clears away what nobody let go: tasks that have gone by themselves since, and words about targets for which nobody waits.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;

/// Deletes what has been over for a minute; says how many rows.
///
/// # Errors
/// When the database cannot answer.
pub async fn prune(db: &RmDb) -> Result<u64, StoreError> {
    let query = sqlx::query!("delete from held_retry where due_at < now() - interval '1 minute'");
    let over = named("held_retry.prune", query.execute(db.pool())).await?;
    let query = sqlx::query!(
        "delete from retry_target where told_at < clock_timestamp() - interval '1 minute'"
    );
    let old = named("retry_target.prune", query.execute(db.pool())).await?;
    Ok(over.rows_affected() + old.rows_affected())
}

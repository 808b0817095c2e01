//! Forgets consumers that have not renewed their term.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;

/// Deletes at most `limit` consumers whose term is over; says how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn forget_expired(db: &SchedulerDb, limit: i64) -> Result<u64, StoreError> {
    let query = sqlx::query!(
        "delete from event_consumer where ctid = any (array(
            select c.ctid from event_consumer c where c.expires_at < now() limit $1))",
        limit
    );
    Ok(named("event.forget_expired", query.execute(db.pool())).await?.rows_affected())
}

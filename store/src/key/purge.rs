//! Deletes keys that ended long enough ago. Who made, replaced and revoked them stays in the audit.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use std::time::Duration;

/// How long a revoked key stays, which nothing shows: as long as an api process may trust what it knows of a key, at the most that can be set.
const REVOKED_FOR: Duration = Duration::from_secs(60);

/// Deletes keys revoked a minute ago, and keys that expired more than `retention_days` days ago, which are listed until then; at most
/// `limit` of each. Says how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn purge(db: &SchedulerDb, retention_days: u32, limit: i64) -> Result<u64, StoreError> {
    let revoked = sqlx::query!(
        "delete from api_key where id = any (array(
            select k.id from api_key k where k.revoked_at < now() - $1 * interval '1 second' order by k.revoked_at limit $2))",
        REVOKED_FOR.as_secs_f64(),
        limit
    );
    let gone = named("key.purge_revoked", revoked.execute(db.pool())).await?.rows_affected();
    let expired = sqlx::query!(
        "delete from api_key where id = any (array(
            select k.id from api_key k where k.expires_at < now() - make_interval(days => $1) order by k.expires_at limit $2))",
        i32::try_from(retention_days).unwrap_or(i32::MAX),
        limit
    );
    Ok(gone + named("key.purge_expired", expired.execute(db.pool())).await?.rows_affected())
}

//! Deletes sessions that ended so long ago that no attempt of theirs is kept.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;

/// Deletes up to `limit` sessions that ended more than `retention_days` days ago; says how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn prune(db: &SchedulerDb, retention_days: u32, limit: i64) -> Result<u64, StoreError> {
    // A day more: attempts go by whole days.
    let days = i32::try_from(retention_days).unwrap_or(i32::MAX).saturating_add(1);
    let query = sqlx::query!(
        "delete from executor_session where id = any (array(
            select s.id from executor_session s
            where s.ended_at is not null and s.ended_at < now() - make_interval(days => $1)
            order by s.ended_at limit $2))",
        days,
        limit
    );
    Ok(named("session.prune", query.execute(db.pool())).await?.rows_affected())
}

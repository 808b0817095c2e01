//! What is to be fired soon.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{ScheduleId, TenantId};
use domain::time::Timestamp;

/// A due time that will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Of which schedule.
    pub schedule: ScheduleId,
    /// Whose that is.
    pub tenant: TenantId,
    /// In which shard that is.
    pub shard: i16,
    /// The due time.
    pub due_at: Timestamp,
    /// When it is to be fired: with its share of the jitter.
    pub fire_at: Timestamp,
}

/// Of each of `shards` what is to be fired after `from` and until `until`, the soonest first, at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn window(
    db: &SchedulerDb,
    shards: &[i16],
    [from, until]: [Timestamp; 2],
    limit: i64,
) -> Result<Vec<Due>, StoreError> {
    let query = sqlx::query!(
        r#"select s.id as "id!", s.tenant_id as "tenant_id!", s.shard as "shard!", s.due_at as "due_at!", s.fire_at as "fire_at!"
            from unnest($1::smallint[]) as h(shard)
            cross join lateral (
                select n.id, n.tenant_id, n.shard, n.due_at, n.fire_at from schedule n
                where n.shard = h.shard and n.fire_at > $2 and n.fire_at <= $3 order by n.fire_at limit $4) s"#,
        shards,
        from,
        until,
        limit
    );
    let rows = named("fire.window", query.fetch_all(db.fire_pool())).await?;
    let due = rows.into_iter().map(|row| Due {
        schedule: ScheduleId(row.id),
        tenant: TenantId(row.tenant_id),
        shard: row.shard,
        due_at: row.due_at,
        fire_at: row.fire_at,
    });
    Ok(due.collect())
}

/// The database's time.
///
/// # Errors
/// When it cannot answer.
pub async fn clock(db: &SchedulerDb) -> Result<Timestamp, StoreError> {
    let query = sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#);
    let now = named("fire.clock", query.fetch_all(db.fire_pool())).await?;
    Ok(now.first().copied().unwrap_or_default())
}

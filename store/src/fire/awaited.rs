//! Schedules that count from the end of their task or run.

use super::Due;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{ScheduleId, TenantId};
use domain::schedule::Coming;
use domain::time::Timestamp;
use uuid::Uuid;

/// A schedule whose task or run has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// The schedule.
    pub schedule: ScheduleId,
    /// Its task or run, as it is stored.
    pub made: Uuid,
    /// When that ended; now, where nothing is known of it any more.
    pub ended_at: Timestamp,
    /// What decides when, as JSON.
    pub timing: String,
    /// When the schedule was made.
    pub created_at: Timestamp,
    /// Its version.
    pub version: i64,
}

/// Those of `shards` whose task or run has ended, at most `limit` of a shard.
///
/// # Errors
/// When the database cannot answer.
pub async fn awaited(
    db: &SchedulerDb,
    shards: &[i16],
    limit: i64,
) -> Result<Vec<Awaited>, StoreError> {
    let query = sqlx::query!(
        r#"select s.id as "id!", s.awaits as "made!", s.timing as "timing!", s.created_at as "created_at!", s.version as "version!",
                coalesce(e.finished_at, w.finished_at, now()) as "ended_at!"
            from unnest($1::smallint[]) as h(shard)
            cross join lateral (
                select n.id, n.tenant_id, n.awaits, n.timing, n.created_at, n.version from schedule n
                where n.shard = h.shard and n.awaits is not null
                    and (select k.id from task k where k.tenant_id = n.tenant_id and k.id = n.awaits limit 1) is null
                    and (select r.id from workflow_run r
                        where r.tenant_id = n.tenant_id and r.id = n.awaits and r.finished_at is null limit 1) is null
                order by n.id limit $2) s
            left join lateral (
                select e.finished_at from task_history e where e.tenant_id = s.tenant_id and e.id = s.awaits limit 1) e on true
            left join lateral (
                select r.finished_at from workflow_run r where r.tenant_id = s.tenant_id and r.id = s.awaits limit 1) w on true"#,
        shards,
        limit
    );
    let rows = named("fire.awaited", query.fetch_all(db.pool())).await?;
    let awaited = rows.into_iter().map(|row| Awaited {
        schedule: ScheduleId(row.id),
        made: row.made,
        ended_at: row.ended_at,
        timing: row.timing,
        created_at: row.created_at,
        version: row.version,
    });
    Ok(awaited.collect())
}

/// Sets the next due time of a schedule that still waits for this task or run; none: it is over. What is
/// to be fired, where it was so.
///
/// # Errors
/// When the database cannot answer.
pub async fn resume_after(
    db: &SchedulerDb,
    schedule: ScheduleId,
    made: Uuid,
    next: Option<Coming>,
) -> Result<Option<Due>, StoreError> {
    let query = sqlx::query!(
        r#"update schedule set awaits = null, due_at = $3, fire_at = $4,
                ended_at = case when $3::timestamptz is null then clock_timestamp() end
            where id = $1 and awaits = $2 returning shard, tenant_id"#,
        schedule.uuid(),
        made,
        next.map(|next| next.due_at),
        next.map(|next| next.fire_at)
    );
    let rows = named("fire.resume_after", query.fetch_all(db.pool())).await?;
    let due = rows.first().zip(next).map(|(row, Coming { due_at, fire_at })| Due {
        schedule,
        tenant: TenantId(row.tenant_id),
        shard: row.shard,
        due_at,
        fire_at,
    });
    Ok(due)
}

//! `cancel_requested`, for all that a deleted tenant still has: what waits ends cancelled, what runs is asked to stop.
//!
//! Raised again and again by the scheduler's housekeeping until nothing lives. A bounded piece each time, of rows that nobody
//! else holds; the statement itself looks whether the tenant is deleted.

use super::end::end_tasks;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use domain::id::TenantId;
use domain::time::millis;
use std::time::Duration;

/// How many tasks of a deleted tenant were moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndedTasks {
    /// Those that waited: cancelled.
    pub cancelled: u64,
    /// Those that run: asked to stop.
    pub asked: u64,
}

/// Moves up to `limit` tasks of `tenant`. What runs must have ended
/// `grace` from now, else its session is fenced. Where both are less than `limit`, all that is left is stopping.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn tenant_deleted(
    db: &SchedulerDb,
    tenant: TenantId,
    grace: Duration,
    limit: i64,
) -> Result<EndedTasks, StoreError> {
    repeated(|| async {
        let query = end_tasks!(
            of waiting: "with picked as materialized (
                    select t.tenant_id, t.id, t.state from task t
                    -- All of a tenant, up to the limit.
                    where t.tenant_id = $1 and t.state <> 'cancelling'
                        and exists (select from tenant d where d.id = $1 and d.state = 'deleted')
                    order by t.id limit $2
                    for update of t skip locked
                ), gone as (
                    delete from task t using picked p
                    where t.tenant_id = any (array[p.tenant_id]) and t.id = p.id
                        and t.state in ('scheduled', 'ready', 'queued', 'retrying')
                    returning t.*
                ), asked as (
                    update task t set state = 'cancelling', wake_at = least(t.wake_at, now() + $3 * interval '1 millisecond')
                    from picked p
                    where t.tenant_id = any (array[p.tenant_id]) and t.id = p.id and t.state = 'running'
                    returning t.tenant_id, t.id, t.attempt, t.state
                )",
            state: "'cancelled'",
            reason: "'its tenant was deleted'",
            moved: "asked",
            answer: r#"select (select count(*) from gone) as "cancelled!", (select count(*) from asked) as "asked!""#,
            tenant.uuid(),
            limit,
            millis(grace) as f64
        );
        let rows = named("tenant_deleted", query.fetch_all(db.pool())).await?;
        let moved = rows.first().map(|row| EndedTasks {
            cancelled: row.cancelled.unsigned_abs(),
            asked: row.asked.unsigned_abs(),
        });
        Ok(moved.unwrap_or_default())
    })
    .await
}

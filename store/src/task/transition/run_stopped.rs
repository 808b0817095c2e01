//! `cancel_requested`, for what a stopped workflow run still has: what waits ends cancelled, what runs is asked to stop.
//!
//! Raised again and again by the schedulers until nothing of the run lives. A bounded piece each time, of rows that no other transaction holds, the
//! last in the graph first: ids are in its order, and so the end of a task releases no other that is still to be cancelled.

use super::end::end_tasks;
use super::tenant_deleted::EndedTasks;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use domain::id::{TenantId, WorkflowRunId};
use domain::time::millis;
use std::time::Duration;

/// Moves up to `limit` tasks of `run`. What runs must have ended `grace` from now, else its session is fenced. Where both are less than
/// `limit`, all that is left is stopping.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn run_stopped(
    db: &SchedulerDb,
    (tenant, run): (TenantId, WorkflowRunId),
    grace: Duration,
    limit: i64,
) -> Result<EndedTasks, StoreError> {
    repeated(|| async {
        let query = end_tasks!(
            of waiting: "with stopped as materialized (
                    select r.stop_reason from workflow_run r
                    where r.tenant_id = $1 and r.id = $2 and r.stopped_at is not null and r.finished_at is null
                ), picked as materialized (
                    select t.tenant_id, t.id from task t
                    where t.tenant_id = $1 and t.run_id = $2 and t.state <> 'cancelling' and exists (select from stopped)
                    order by t.id desc limit $3
                    for update of t skip locked
                ), gone as (
                    delete from task t using picked p
                    where t.tenant_id = any (array[p.tenant_id]) and t.id = p.id
                        and t.state in ('scheduled', 'ready', 'queued', 'retrying')
                    returning t.*, (select s.stop_reason from stopped s) as reason
                ), asked as (
                    update task t set state = 'cancelling', wake_at = least(t.wake_at, now() + $4 * interval '1 millisecond')
                    from picked p
                    where t.tenant_id = any (array[p.tenant_id]) and t.id = p.id and t.state = 'running'
                    returning t.tenant_id, t.id, t.attempt, t.state
                )",
            state: "'cancelled'",
            reason: "reason",
            moved: "asked",
            answer: r#"select (select count(*) from gone) as "cancelled!", (select count(*) from asked) as "asked!""#,
            tenant.uuid(),
            run.uuid(),
            limit,
            millis(grace) as f64
        );
        let rows = named("run_stopped", query.fetch_all(db.pool())).await?;
        let moved = rows.first().map(|row| EndedTasks {
            cancelled: row.cancelled.unsigned_abs(),
            asked: row.asked.unsigned_abs(),
        });
        Ok(moved.unwrap_or_default())
    })
    .await
}

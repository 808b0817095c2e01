//! Stops runs whose deadline has passed, and cancels what is left of stopped ones.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use crate::task::transition::run_stopped;
use domain::id::{TenantId, WorkflowRunId};
use std::time::Duration;

/// What one call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoppedPiece {
    /// Runs that were stopped at their deadline.
    pub expired: u64,
    /// Tasks that were cancelled.
    pub cancelled: u64,
    /// Tasks that run and were asked to stop.
    pub asked: u64,
    /// Some run has more tasks than were read.
    pub more: bool,
}

/// Runs that are read at once, and tasks of each.
const RUNS: i64 = 50;
const TASKS: i64 = 500;

/// Stops up to 50 runs at their deadline, and cancels up to 500 tasks of each of 50 stopped ones. What runs must have ended `grace` from now,
/// else its session is fenced. Wake the resource managers where some were asked, and the batcher.
///
/// # Errors
/// When the database cannot answer; what was done is done.
pub async fn stop_piece(db: &SchedulerDb, grace: Duration) -> Result<StoppedPiece, StoreError> {
    let expired = expire(db).await?;
    let mut piece = StoppedPiece { expired, ..StoppedPiece::default() };
    let query = sqlx::query!(
        "select r.tenant_id, r.id from workflow_run r
            -- Those that only wait for their last tasks to stop are passed over.
            cross join lateral (
                select t.id from task t where t.tenant_id = r.tenant_id and t.run_id = r.id and t.state <> 'cancelling' limit 1) t
            where r.finished_at is null and r.stopped_at is not null
            order by r.stopped_at limit $1",
        RUNS
    );
    for row in named("run.stopped", query.fetch_all(db.pool())).await? {
        let key = (TenantId(row.tenant_id), WorkflowRunId(row.id));
        let moved = run_stopped(db, key, grace, TASKS).await?;
        piece.cancelled += moved.cancelled;
        piece.asked += moved.asked;
        piece.more |= moved.cancelled + moved.asked >= TASKS.unsigned_abs();
    }
    Ok(piece)
}

async fn expire(db: &SchedulerDb) -> Result<u64, StoreError> {
    repeated(|| async {
        let query = sqlx::query!(
            "update workflow_run r set state = 'cancelling', stopped_at = now(), stop_reason = 'the deadline of its workflow run passed'
                from (
                    select tenant_id, id from workflow_run
                    where finished_at is null and stopped_at is null and deadline_at <= now()
                    order by deadline_at limit $1 for update skip locked) d
                -- Locked, so they stand as they were read.
                where r.tenant_id = any (array[d.tenant_id]) and r.id = d.id",
            RUNS
        );
        Ok(named("run.expire", query.execute(db.pool())).await?.rows_affected())
    })
    .await
}

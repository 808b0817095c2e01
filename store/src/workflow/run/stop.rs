//! Stops runs whose deadline has passed, and cancels what is left of stopped ones.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use crate::task::transition::run_stopped;
use domain::id::{TenantId, WorkflowRunId};
use sqlx::PgConnection;
use std::time::Duration;
use uuid::Uuid;

/// Why a run is stopped that a newer one of its schedule takes the place of.
pub(super) const REPLACED: &str = "a newer run of its schedule took its place";

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

/// Stops runs that a newer one of their schedule takes the place of; how many. Those that have ended, or are stopped, stay as they are.
pub(crate) async fn replaced_in(
    tx: &mut PgConnection,
    runs: &[(TenantId, WorkflowRunId)],
) -> Result<u64, StoreError> {
    let mut sorted = runs.to_vec();
    sorted.sort_unstable();
    let (tenants, ids): (Vec<Uuid>, Vec<Uuid>) =
        sorted.into_iter().map(|(tenant, id)| (tenant.uuid(), id.uuid())).unzip();
    let query = sqlx::query!(
        "update workflow_run r set state = 'cancelling', stopped_at = now(), stop_reason = $3
            from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
            where r.tenant_id = any (array[i.tenant_id]) and r.id = i.id and r.state = 'running'",
        &tenants,
        &ids,
        REPLACED
    );
    Ok(named("run.replaced", query.execute(tx)).await?.rows_affected())
}

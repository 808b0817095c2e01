//! `prepared`: the gate of a task is open, and it has what it runs; it goes to ready.
//!
//! In the transaction that opens the gate, which holds the task's row: what other nodes returned cannot change.

use super::change::change_tasks;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{TaskId, TenantId};
use domain::task::Run;
use sqlx::PgConnection;

/// A task, and what it runs: with the values of other nodes in it.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedTask {
    /// The tenant.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// What it runs.
    pub run: Run,
}

/// Raises the event alone, in a transaction of its own.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn prepared(db: &SchedulerDb, tasks: &[PreparedTask]) -> Result<u64, StoreError> {
    let mut connection = db.pool().acquire().await?;
    prepared_in(&mut connection, tasks).await
}

/// Raises the event; tasks without a closed gate stay as they are. Says how many moved.
///
/// # Errors
/// When the database cannot answer; then the transaction must not be committed.
pub(crate) async fn prepared_in(
    tx: &mut PgConnection,
    tasks: &[PreparedTask],
) -> Result<u64, StoreError> {
    let tenants: Vec<_> = tasks.iter().map(|one| one.tenant.uuid()).collect();
    let ids: Vec<_> = tasks.iter().map(|one| one.task.uuid()).collect();
    let runs: Vec<_> = tasks.iter().map(|one| one.run.to_json()).collect();
    let query = change_tasks!(
        "with input as materialized (
                select * from unnest($1::uuid[], $2::uuid[], $3::text[]) as i(tenant_id, id, run)
            ), moved as (
                update task t set state = 'ready', gate = null, wake_at = case when t.expire_if_late then t.start_deadline end
                from input i
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.state = 'scheduled' and t.gate = 'closed' and t.needs is null
                returning t.tenant_id, t.id, t.attempt, t.state, i.run
            ), filled as (
                update task_spec s set run = m.run from moved m
                where s.id = any (array[m.id]) and s.tenant_id = m.tenant_id
            )",
        changes: "select tenant_id, id, attempt, state, null, null::integer, null::uuid from moved",
        answer: "select from moved",
        &tenants,
        &ids,
        &runs
    );
    Ok(named("prepared", query.execute(tx)).await?.rows_affected())
}

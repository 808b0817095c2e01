//! `run_now`: the owner of a task does not want to wait for its time; it goes to ready.
//!
//! From scheduled and retrying. It is due now, unless it was before, and keeps its tolerance. It waits for no parents any more.
//! One with a gate is opened now.

use super::change::change_tasks;
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::{TaskId, TenantId};
use sqlx::PgConnection;

/// Raises the event alone; whether the task moved. [`crate::task::lever::pull`] asks what the lever does first, and audits it.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn run_now(db: &ApiDb, scope: &TenantScope, task: TaskId) -> Result<bool, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let moved = run_now_in(&mut tx, scope.tenant(), task).await?;
    named("commit", tx.commit()).await?;
    Ok(moved)
}

/// The same in the transaction of a lever.
pub(crate) async fn run_now_in(
    tx: &mut PgConnection,
    tenant: TenantId,
    task: TaskId,
) -> Result<bool, StoreError> {
    let query = change_tasks!(
        "with moved as (
                update task t set state = (case when t.gate is null then 'ready' else 'scheduled' end)::task_state, run_at = least(t.run_at, now()), needs = null, undecided = null, doomed_by = null,
                    start_deadline = least(t.run_at, now()) + (t.start_deadline - t.run_at),
                    wake_at = case when t.gate is not null then now() when t.expire_if_late and t.first_started_at is null
                        then least(t.run_at, now()) + (t.start_deadline - t.run_at) end
                where t.tenant_id = $1 and t.id = $2 and t.state in ('scheduled', 'retrying') and (t.gate is null or t.gate = 'closed')
                returning t.tenant_id, t.id, t.attempt, t.state
            )",
        changes: "select tenant_id, id, attempt, state, null, null::integer, null::uuid from moved",
        answer: "select from moved",
        tenant.uuid(),
        task.uuid()
    );
    Ok(named("run_now", query.execute(tx)).await?.rows_affected() > 0)
}

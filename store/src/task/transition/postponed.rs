//! `postponed`: a ready or queued task was given a later time by its owner; it goes to scheduled.
//!
//! The change writes the time first, in the same transaction; only a task that is not due moves. The hint of a queued one finds nothing
//! any more.

use super::change::change_tasks;
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::{TaskId, TenantId};
use domain::task::State;
use sqlx::PgConnection;

/// Raises the event alone; whether the task moved.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn postponed(db: &ApiDb, scope: &TenantScope, task: TaskId) -> Result<bool, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let moved = postponed_in(&mut tx, scope.tenant(), task).await?;
    named("commit", tx.commit()).await?;
    Ok(moved)
}

/// The same in the transaction of a change.
pub(crate) async fn postponed_in(
    tx: &mut PgConnection,
    tenant: TenantId,
    task: TaskId,
) -> Result<bool, StoreError> {
    let waiting = [State::Ready, State::Queued].map(|state| state.as_str().to_owned());
    let query = change_tasks!(
        "with moved as (
                update task t set state = 'scheduled', wake_at = t.run_at
                where t.tenant_id = $1 and t.id = $2 and t.state = any ($3::text[]::task_state[]) and t.run_at > now()
                returning t.tenant_id, t.id, t.attempt, t.state
            )",
        changes: "select tenant_id, id, attempt, state, null, null::integer, null::uuid from moved",
        answer: "select from moved",
        tenant.uuid(),
        task.uuid(),
        &waiting[..]
    );
    Ok(named("postponed", query.execute(tx)).await?.rows_affected() > 0)
}

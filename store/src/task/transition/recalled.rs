//! `recalled`: a queued task was changed by its owner; it goes back to ready.
//!
//! A resource manager that holds its hint may have read what it runs before the change. So the hint must find nothing: the task goes to
//! the broker again, under its next dispatch. As for every dispatch that comes to nothing, the task stays prepaid.

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
pub async fn recalled(db: &ApiDb, scope: &TenantScope, task: TaskId) -> Result<bool, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let moved = recalled_in(&mut tx, scope.tenant(), task).await?;
    named("commit", tx.commit()).await?;
    Ok(moved)
}

/// The same in the transaction of a change.
pub(crate) async fn recalled_in(
    tx: &mut PgConnection,
    tenant: TenantId,
    task: TaskId,
) -> Result<bool, StoreError> {
    // No event, as for any way between ready and queued.
    let query = sqlx::query!(
        "update task t set state = 'ready', wake_at = case when t.expire_if_late and t.first_started_at is null
                then t.start_deadline end
            where t.tenant_id = $1 and t.id = $2 and t.state = $3::text::task_state",
        tenant.uuid(),
        task.uuid(),
        State::Queued.as_str()
    );
    Ok(named("recalled", query.execute(tx)).await?.rows_affected() > 0)
}

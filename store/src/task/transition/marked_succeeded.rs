//! `marked_succeeded`: the owner of a task says that it was done by other means; it ends.
//!
//! From all states without a lease. What runs is to be stopped first: it may be in the middle of the same work.

use super::end::end_tasks;
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::{TaskId, TenantId};
use sqlx::PgConnection;

/// Raises the event alone, with what is said of it; whether the task ended. [`crate::task::lever::pull`] audits it, too.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn marked_succeeded(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    note: &str,
) -> Result<bool, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let ended = marked_succeeded_in(&mut tx, scope.tenant(), task, note).await?;
    named("commit", tx.commit()).await?;
    Ok(ended)
}

/// The same in the transaction of a lever.
pub(crate) async fn marked_succeeded_in(
    tx: &mut PgConnection,
    tenant: TenantId,
    task: TaskId,
    note: &str,
) -> Result<bool, StoreError> {
    let query = end_tasks!(
        of waiting: "with gone as (
                delete from task t
                where t.tenant_id = $1 and t.id = $2 and t.state in ('scheduled', 'ready', 'queued', 'retrying')
                returning t.*
            )",
        state: "'succeeded'",
        reason: "$3",
        answer: "select from gone",
        tenant.uuid(),
        task.uuid(),
        format!("marked as succeeded: {note}")
    );
    Ok(named("marked_succeeded", query.execute(tx)).await?.rows_affected() > 0)
}

//! `rejected`: a person rejected what a node asked approval for; it ends.

use super::end::end_tasks;
use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::{TaskId, TenantId};
use sqlx::PgConnection;

/// Raises the event alone, in a transaction of its own.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn rejected(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    reason: &str,
) -> Result<bool, StoreError> {
    let mut tx = crate::task::scoped(db, scope).await?;
    let ended = rejected_in(&mut tx, scope.tenant(), task, reason).await?;
    named("commit", tx.commit()).await?;
    Ok(ended)
}

/// Raises the event; whether the task ended: it waited for a person.
///
/// # Errors
/// When the database cannot answer; then the transaction must not be committed.
pub(crate) async fn rejected_in(
    tx: &mut PgConnection,
    tenant: TenantId,
    task: TaskId,
    reason: &str,
) -> Result<bool, StoreError> {
    let query = end_tasks!(
        of waiting: "with gone as (
                delete from task t
                where t.tenant_id = $1 and t.id = $2 and t.state = 'scheduled' and t.gate = 'waiting' and t.signal_key is null
                returning t.*
            )",
        state: "'aborted'",
        reason: "$3",
        answer: "select from gone",
        tenant.uuid(),
        task.uuid(),
        reason
    );
    Ok(named("rejected", query.execute(tx)).await?.rows_affected() > 0)
}

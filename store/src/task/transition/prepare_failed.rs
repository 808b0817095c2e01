//! `prepare_failed`: the gate of a task cannot be opened, or the items that it became did not succeed; it ends.
//!
//! In the transaction that opens the gate. No attempt was made, so there is nothing to retry.

use super::end::end_tasks;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{TaskId, TenantId};
use sqlx::PgConnection;

/// Raises the event alone, in a transaction of its own.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn prepare_failed(
    db: &SchedulerDb,
    tasks: &[(TenantId, TaskId, String)],
) -> Result<u64, StoreError> {
    let mut connection = db.pool().acquire().await?;
    prepare_failed_in(&mut connection, tasks).await
}

/// Raises the event, each with why; tasks without a gate to be opened stay as they are. Says how many ended.
///
/// # Errors
/// When the database cannot answer; then the transaction must not be committed.
pub(crate) async fn prepare_failed_in(
    tx: &mut PgConnection,
    tasks: &[(TenantId, TaskId, String)],
) -> Result<u64, StoreError> {
    let tenants: Vec<_> = tasks.iter().map(|(tenant, ..)| tenant.uuid()).collect();
    let ids: Vec<_> = tasks.iter().map(|(_, task, _)| task.uuid()).collect();
    let reasons: Vec<_> = tasks.iter().map(|(.., reason)| reason.clone()).collect();
    let query = end_tasks!(
        of waiting: "with gone as (
                delete from task t using unnest($1::uuid[], $2::uuid[], $3::text[]) as i(tenant_id, id, reason)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.state = 'scheduled' and t.gate in ('closed', 'items') and t.needs is null
                returning t.*, i.reason
            )",
        state: "'failed'",
        reason: "reason",
        answer: "select from gone",
        &tenants,
        &ids,
        &reasons
    );
    Ok(named("prepare_failed", query.execute(tx)).await?.rows_affected())
}

//! `wait_over`: what a node waited for has come: a signal, an approval, a time, or the ends of its items; it ends.
//!
//! In the transaction of whoever brings it. A gate says for what a task waits, so what comes twice finds nothing.

use super::end::end_tasks;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{TaskId, TenantId};
use sqlx::PgConnection;

/// A task whose wait is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitOver {
    /// The tenant.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// What it returns, as JSON.
    pub result: Option<String>,
    /// What came, for people.
    pub reason: String,
}

/// Raises the event alone, in a transaction of its own.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn wait_over(
    db: &SchedulerDb,
    gate: &str,
    tasks: &[WaitOver],
) -> Result<u64, StoreError> {
    let mut connection = db.pool().acquire().await?;
    wait_over_in(&mut connection, gate, tasks).await
}

/// Raises the event; tasks whose gate is not `gate` stay as they are. Says how many ended.
///
/// # Errors
/// When the database cannot answer; then the transaction must not be committed.
pub(crate) async fn wait_over_in(
    tx: &mut PgConnection,
    gate: &str,
    tasks: &[WaitOver],
) -> Result<u64, StoreError> {
    let tenants: Vec<_> = tasks.iter().map(|one| one.tenant.uuid()).collect();
    let ids: Vec<_> = tasks.iter().map(|one| one.task.uuid()).collect();
    let results: Vec<_> = tasks.iter().map(|one| one.result.clone()).collect();
    let reasons: Vec<_> = tasks.iter().map(|one| one.reason.clone()).collect();
    let query = end_tasks!(
        of waiting: "with gone as (
                delete from task t using unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as i(tenant_id, id, result, reason)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.state = 'scheduled' and t.gate = $5 and t.needs is null
                returning t.*, i.result, i.reason
            )",
        state: "'succeeded'",
        reason: "reason",
        results: "result",
        answer: "select from gone",
        &tenants,
        &ids,
        &results as &[Option<String>],
        &reasons,
        gate
    );
    Ok(named("wait_over", query.execute(tx)).await?.rows_affected())
}

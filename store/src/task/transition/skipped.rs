//! `skipped`: too few of a task's parents can still end as its edges ask, or its `if` does not hold; it ends.
//!
//! The end of the last of these parents has marked it. Its own children are decided in the same statement, so that a long chain is
//! skipped one level after the other, each by a statement of its own.

use super::end::end_tasks;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use domain::id::{TaskId, TenantId};
use sqlx::PgConnection;
use uuid::Uuid;

/// A task that is to be skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoomedTask {
    /// The tenant.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// The parent whose end left too few.
    pub parent: TaskId,
}

/// Raises the event; tasks that are not marked stay as they are. Says how many ended.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn skipped(db: &SchedulerDb, tasks: &[DoomedTask]) -> Result<u64, StoreError> {
    let mut sorted: Vec<&DoomedTask> = tasks.iter().collect();
    sorted.sort_unstable_by_key(|doomed| (doomed.tenant, doomed.task));
    let tenants: Vec<_> = sorted.iter().map(|doomed| doomed.tenant.uuid()).collect();
    let ids: Vec<_> = sorted.iter().map(|doomed| doomed.task.uuid()).collect();
    let reason = |doomed: &&DoomedTask| {
        format!("its parent `{}` did not end as `depends_on` asks", doomed.parent)
    };
    let reasons: Vec<_> = sorted.iter().map(reason).collect();
    repeated(|| async {
        let mut connection = db.pool().acquire().await?;
        skip(&mut connection, (&tenants, &ids, &reasons)).await
    })
    .await
}

/// The same for tasks whose gate says so, in the transaction that opens it; each with why.
pub(crate) async fn skipped_in(
    tx: &mut PgConnection,
    tasks: &[(TenantId, TaskId, String)],
) -> Result<u64, StoreError> {
    let tenants: Vec<_> = tasks.iter().map(|(tenant, ..)| tenant.uuid()).collect();
    let ids: Vec<_> = tasks.iter().map(|(_, task, _)| task.uuid()).collect();
    let reasons: Vec<_> = tasks.iter().map(|(.., reason)| reason.clone()).collect();
    skip(tx, (&tenants, &ids, &reasons)).await
}

async fn skip(
    connection: &mut PgConnection,
    (tenants, ids, reasons): (&[Uuid], &[Uuid], &[String]),
) -> Result<u64, StoreError> {
    let query = end_tasks!(
        of waiting: "with gone as (
                delete from task t using unnest($1::uuid[], $2::uuid[], $3::text[]) as i(tenant_id, id, reason)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.state = 'scheduled' and (t.doomed_by is not null or (t.gate = 'closed' and t.needs is null))
                returning t.*, i.reason
            )",
        state: "'skipped'",
        reason: "reason",
        answer: "select from gone",
        tenants,
        ids,
        reasons
    );
    Ok(named("skipped", query.execute(connection)).await?.rows_affected())
}

//! `expired`: a task that asked for it did not start by its deadline, or a node waited for long enough; it ends.
//!
//! From scheduled, ready and retrying only, and only before its first start: what is in the broker or
//! running is past the question.

use super::end::end_tasks;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use domain::id::{TaskId, TenantId};

/// Raises the event; tasks to which it does not apply stay as they are. Says how many ended.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn expired(db: &SchedulerDb, tasks: &[(TenantId, TaskId)]) -> Result<u64, StoreError> {
    let (tenants, ids) = super::dispatched::sorted_keys(tasks);
    repeated(|| async {
        let query = end_tasks!(
            of waiting: "with gone as (
                delete from task t using unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                    and t.state in ('scheduled', 'ready', 'retrying') and t.needs is null
                    and case when t.gate = 'waiting' then t.wake_at <= now()
                        else t.expire_if_late and t.first_started_at is null and t.start_deadline < now() and t.gate is null end
                returning t.*
            )",
            state: "'expired'",
            reason: "case when gate = 'waiting' then 'what it waited for did not come in time'
                else 'its start deadline passed before it could start' end",
            answer: "select from gone",
            &tenants,
            &ids
        );
        Ok(named("expired", query.execute(db.pool())).await?.rows_affected())
    })
    .await
}

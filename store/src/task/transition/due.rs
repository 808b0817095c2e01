//! `due`: the time of a scheduled or retrying task has come; it goes to ready. One that waits for others has no time yet.
//!
//! Commits without waiting for the disk: where that is lost the task is scheduled still, and overdue, and is found again.

use super::change::change_tasks;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::own::on_own;
use crate::statement::repeated;
use domain::id::{TaskId, TenantId};

/// Raises the event; tasks that are not due, or not waiting any more, stay as they are. Says how many moved.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn due(db: &SchedulerDb, tasks: &[(TenantId, TaskId)]) -> Result<u64, StoreError> {
    let (tenants, ids) = super::dispatched::sorted_keys(tasks);
    repeated(|| async {
        let query = change_tasks!(
            "with moved as (
                update task t set state = 'ready', wake_at = case when t.expire_if_late and t.first_started_at is null
                    then t.start_deadline end
                from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id and t.state in ('scheduled', 'retrying')
                    and t.run_at <= now() and t.needs is null and t.gate is null
                returning t.tenant_id, t.id, t.attempt, t.state
            )",
            changes: "select tenant_id, id, attempt, state, null, null::integer, null::uuid from moved",
            answer: "select from moved",
            &tenants,
            &ids
        );
        Ok(on_own!(db.dispatch(), "due", query.execute).rows_affected())
    })
    .await
}

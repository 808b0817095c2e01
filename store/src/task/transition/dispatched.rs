//! `dispatched`: the batcher picked ready tasks; they go to queued, each with its next dispatch epoch.
//!
//! Names the batcher's own epoch: after a takeover the old batcher marks nothing. Commits without
//! waiting for the disk: a lost mark is a lost hint, and the task is simply still ready. Whoever
//! picks a task has charged its tenant; a dispatch that comes to nothing leaves the task prepaid.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::own::on_own;
use crate::statement::repeated;
use domain::epoch::Epoch;
use domain::id::{NodeId, TaskId, TenantId};
use domain::task::{Dispatch, State};
use domain::time::millis;
use std::time::Duration;
use uuid::Uuid;

/// Marks what is still ready of `picked`, and says the dispatch that each hint must name; `None` where `node` is not the batcher of `epoch` any more.
/// A hint that is not heard of within `sweep_age` is taken back by `dispatch_stale`.
///
/// # Errors
/// When the database cannot answer.
pub async fn dispatched(
    db: &SchedulerDb,
    node: NodeId,
    epoch: Epoch,
    picked: &[(TenantId, TaskId)],
    sweep_age: Duration,
) -> Result<Option<Vec<Dispatch>>, StoreError> {
    let (tenants, ids) = sorted_keys(picked);
    repeated(|| async {
        let query = sqlx::query!(
            r#"with lead as materialized (
                    select 1 from leadership
                    where role = 'batcher' and holder = $1 and epoch = $2 and expires_at > clock_timestamp()
                    for share
                ), marked as (
                    update task t set state = 'queued', dispatch_epoch = t.dispatch_epoch + 1, prepaid = true,
                        wake_at = now() + $5 * interval '1 millisecond'
                    from unnest($3::uuid[], $4::uuid[]) as i(tenant_id, id)
                    where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id
                        and t.state = $6::text::task_state and exists (select from lead)
                    returning t.tenant_id, t.id, t.dispatch_epoch
                )
                select l.leads as "leads!", m.tenant_id as "tenant_id?", m.id as "id?", m.dispatch_epoch as "dispatch_epoch?"
                from (select exists (select from lead) as leads) l left join marked m on true"#,
            node.uuid(),
            epoch.0,
            &tenants,
            &ids,
            millis(sweep_age) as f64,
            State::Ready.as_str()
        );
        let rows = on_own!(db.dispatch(), "dispatched", query.fetch_all);
        if !rows.iter().any(|row| row.leads) {
            return Ok(None);
        }
        let marked = rows.into_iter().filter_map(|row| {
            Some(Dispatch {
                tenant: TenantId(row.tenant_id?),
                task: TaskId(row.id?),
                epoch: row.dispatch_epoch?.into(),
            })
        });
        Ok(Some(marked.collect()))
    })
    .await
}

/// Keys as two arrays, in the order in which every transition locks rows.
pub(super) fn sorted_keys(tasks: &[(TenantId, TaskId)]) -> (Vec<Uuid>, Vec<Uuid>) {
    let mut keys: Vec<_> =
        tasks.iter().map(|(tenant, task)| (tenant.uuid(), task.uuid())).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().unzip()
}

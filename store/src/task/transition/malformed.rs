//! `malformed`: what is stored of a task cannot be worked with; it ends.
//!
//! From whatever it waits in; not while it is leased: see `attempt_malformed`. Its row may hold anything, nulls included, and what
//! history takes is made of it all the same. So one bad row ends, instead of every statement that meets it.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use domain::id::{TaskId, TenantId};
use domain::task::Malformed;

/// Raises the event; tasks to which it does not apply stay as they are. Says how many ended.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn malformed(
    db: &SchedulerDb,
    tasks: &[(TenantId, TaskId)],
    what: Malformed,
) -> Result<u64, StoreError> {
    let (tenants, ids) = super::dispatched::sorted_keys(tasks);
    repeated(|| async {
        let query = sqlx::query!(
            "with gone as (
                delete from task t using unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
                where t.tenant_id = any (array[i.tenant_id]) and t.id = i.id and t.session_id is null
                    and t.state in ('scheduled', 'ready', 'queued', 'retrying')
                returning t.*
            )
            insert into task_history (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                run_at, start_deadline, cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, unique_key,
                first_started_at, finished_at, reason)
            select tenant_id, id, case when pool ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' then pool else 'default' end, 'failed', tier,
                greatest(cpu_millis, 0), greatest(memory_mib, 0), greatest(disk_mib, 0), greatest(iops, 0), greatest(ports, 0),
                case when run_at >= $4 and run_at < $5 then run_at else now() end,
                case when start_deadline >= $4 and start_deadline < $5 then start_deadline else now() end,
                least(greatest(cap_ms, 1), 3153600000000), greatest(attempt, 0), greatest(failures, 0), greatest(max_attempts, 1),
                coalesce(expire_if_late, false), coalesce(at_most_once, false), unique_key,
                case when first_started_at >= $4 and first_started_at < $5 then first_started_at end, now(), $3
            from gone",
            &tenants,
            &ids,
            what.reason(),
            crate::malformed::LEAST,
            crate::malformed::MOST
        );
        Ok(named("malformed", query.execute(db.pool())).await?.rows_affected())
    })
    .await
}

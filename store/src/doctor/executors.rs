//! Executors that give back what they are given, and pools with room in which nothing is placed.

use super::Check;
use super::tasks::task_id;
use super::{DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use domain::time::millis;
use sqlx::PgConnection;
use uuid::Uuid;

/// Executors whose resource manager gives them probes at most.
pub(super) async fn quarantined(tx: &mut PgConnection) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"select count(*) as "count!", min(s.executor_id || ' of pool ' || s.pool) as example from executor_session s
            where s.ended_at is null and s.quarantined_at is not null and s.expires_at > now()"#
    );
    let row = patient("doctor.quarantined", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![Finding { check: Check::ExecutorsQuarantined, count: row.count, example: row.example }])
}

/// Tasks that were handed out, now or before, and have been due for long, in a pool that has room for them and in which nobody has
/// placed anything for as long. What a limit keeps back is left out.
pub(super) async fn stalled(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let made_before = runtime::clock::wall() - options.overdue;
    let query = sqlx::query!(
        r#"select coalesce(sum(w.tasks), 0)::bigint as "count!", min(w.example) as example
            from pool p
            left join pool_turn u on u.pool = p.name
            cross join lateral (
                select coalesce(sum(l.free_slots), 0) as free, max(l.last_placed_at) as placed, max(l.largest_cpu_millis) as cpu,
                    max(l.largest_memory_mib) as memory, max(l.largest_disk_mib) as disk, max(l.largest_iops) as iops,
                    max(l.largest_ports) as ports
                from pool_load l where l.pool = p.name and l.reported_at > clock_timestamp() - interval '3 seconds') l
            cross join lateral (
                select count(*) as tasks, min(t.id::text) as example from (
                    (select q.id from task q
                        where q.pool = p.name and q.state = 'queued' and q.run_at < now() - $1 * interval '1 millisecond'
                            and q.id < $2 and q.slots <= l.free and q.cpu_millis <= l.cpu and q.memory_mib <= l.memory
                            and q.disk_mib <= l.disk and q.iops <= l.iops and q.ports <= l.ports
                            and (q.driver is null or exists (select from pool_load d
                                where d.pool = p.name and d.reported_at > clock_timestamp() - interval '3 seconds'
                                    and (d.drivers is null or q.driver = any (d.drivers))
                                    and not coalesce(d.lacks_by_driver ? q.driver, false))) limit 1000)
                    union all
                    (select r.id from task r join tenant n on n.id = r.tenant_id and n.state = 'active'
                        where r.pool = p.name and r.state = 'ready' and r.dispatch_epoch > 0 and not r.flexible
                            and r.run_at < now() - $1 * interval '1 millisecond' and r.id < $2
                            and r.slots <= l.free and r.cpu_millis <= l.cpu and r.memory_mib <= l.memory
                            and r.disk_mib <= l.disk and r.iops <= l.iops and r.ports <= l.ports
                            and (r.driver is null or exists (select from pool_load d
                                where d.pool = p.name and d.reported_at > clock_timestamp() - interval '3 seconds'
                                    and (d.drivers is null or r.driver = any (d.drivers))
                                    and not coalesce(d.lacks_by_driver ? r.driver, false)))
                            and u.stopped is distinct from 'limits' limit 1000)) t) w
            where p.paused_at is null and l.free > 0 and l.placed < now() - $1 * interval '1 millisecond'"#,
        millis(options.overdue) as f64,
        Uuid::from_u128(
            (made_before.timestamp_millis().clamp(0, 1 << 47).unsigned_abs() as u128) << 80
        )
    );
    let row = patient("doctor.stalled", query.fetch_optional(tx)).await.and_then(one)?;
    let example = row.example.as_deref().map(task_id);
    Ok(vec![Finding { check: Check::PlacementStalled, count: row.count, example }])
}

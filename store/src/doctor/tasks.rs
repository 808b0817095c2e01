//! Tasks that stand where they should have moved on.

use super::Check;
use super::{DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use domain::id::TaskId;
use domain::time::millis;
use sqlx::PgConnection;
use uuid::Uuid;

pub(super) const WAITING: [Check; 4] =
    [Check::ScheduledOverdue, Check::QueuedStale, Check::RetryingOverdue, Check::ExpiryOverdue];

/// What waits for a time that has long come. `wake_at` of a queued task is when the sweep takes it back.
pub(super) async fn waiting(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"select t.state::text as "state!", count(*) as "count!", min(t.id::text) as example
            from (
                select w.state, w.id from task w
                where w.session_id is null and w.wake_at < now() - $1 * interval '1 millisecond' and w.state <> 'queued'
                union all
                select q.state, q.id from (select name from pool order by name limit 100000) p
                -- The offset keeps the planner from reading the whole index instead of each pool's part.
                cross join lateral (select h.state, h.id from task h
                    where h.pool = p.name and h.state = 'queued' and h.wake_at < now() - $1 * interval '1 millisecond' offset 0) q
            ) t group by t.state"#,
        millis(options.overdue) as f64
    );
    let rows = patient("doctor.waiting", query.fetch_all(tx)).await?;
    let check = |state: &str| match state {
        "scheduled" => Check::ScheduledOverdue,
        "queued" => Check::QueuedStale,
        "retrying" => Check::RetryingOverdue,
        _ => Check::ExpiryOverdue,
    };
    let found = rows.into_iter().map(|row| Finding {
        check: check(&row.state),
        count: row.count,
        example: row.example.as_deref().map(task_id),
    });
    Ok(found.collect())
}

/// What nobody will look at again. Reads all live tasks.
pub(super) async fn without_wake(tx: &mut PgConnection) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"select count(*) as "count!", min(t.id::text) as example from task t
            where t.wake_at is null and t.state in ('scheduled', 'queued', 'retrying')
                -- Parents, items, signals and people wake the others.
                and t.needs is null and t.gate is distinct from 'waiting'"#
    );
    let row = patient("doctor.without_wake", query.fetch_optional(tx)).await.and_then(one)?;
    let example = row.example.as_deref().map(task_id);
    Ok(vec![Finding { check: Check::TasksWithoutWake, count: row.count, example }])
}

/// Tasks that were never handed out, and are ready since long, in a pool with room for them, where the batcher says that nothing
/// waits, or has not looked for long. What only waits for spare room is left out.
pub(super) async fn unseen(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let made_before = runtime::clock::wall() - options.overdue;
    let query = sqlx::query!(
        r#"select count(*) as "count!", min(t.id::text) as example
            from pool p
            left join pool_turn u on u.pool = p.name
            cross join lateral (
                select coalesce(sum(l.free_slots), 0) as free, max(l.largest_cpu_millis) as cpu, max(l.largest_memory_mib) as memory,
                    max(l.largest_disk_mib) as disk, max(l.largest_iops) as iops, max(l.largest_ports) as ports
                from pool_load l where l.pool = p.name and l.reported_at > clock_timestamp() - interval '3 seconds') l
            cross join lateral (
                select r.id, r.tenant_id from task r
                where r.pool = p.name and r.state = 'ready' and r.dispatch_epoch = 0 and not r.flexible
                    and r.run_at < now() - $1 * interval '1 millisecond' and r.id < $2
                    and r.slots <= l.free and r.cpu_millis <= l.cpu and r.memory_mib <= l.memory and r.disk_mib <= l.disk
                    and r.iops <= l.iops and r.ports <= l.ports and (r.driver is null or exists (
                        select from pool_load d where d.pool = p.name and d.reported_at > clock_timestamp() - interval '3 seconds'
                            and (d.drivers is null or r.driver = any (d.drivers))))
                    and not (r.expire_if_late and r.start_deadline < now())
                limit 1000) t
            join tenant n on n.id = t.tenant_id and n.state = 'active'
            where p.paused_at is null and l.free > 0
                and (u.at is null or u.at < now() - $1 * interval '1 millisecond' or u.stopped = 'nothing_waits')"#,
        millis(options.overdue) as f64,
        Uuid::from_u128(
            (made_before.timestamp_millis().clamp(0, 1 << 47).unsigned_abs() as u128) << 80
        )
    );
    let row = patient("doctor.unseen", query.fetch_optional(tx)).await.and_then(one)?;
    let example = row.example.as_deref().map(task_id);
    Ok(vec![Finding { check: Check::ReadyUnseen, count: row.count, example }])
}

/// Tasks of a pool that fit none of its executors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaceable {
    /// Which pool.
    pub pool: String,
    /// How many; counting ends at 10 000 of each kind.
    pub tasks: u64,
    /// One of them.
    pub example: String,
    /// The first dimension in which that one exceeds all executors, or the driver that none of them has; `None` where there is
    /// no executor, or none that has all at once.
    pub short_of: Option<String>,
}

/// Tasks that are ready since long and that no executor of their pool could ever hold. All of a strand need the same, so the first of each
/// tells; at 10 000 strands looking ends.
pub(super) async fn unplaceable(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Unplaceable>, StoreError> {
    let query = sqlx::query!(
        r#"with recursive strand as (
                select p.name as pool, s.tenant_id, s.strand, s.id, s.run_at, s.cpu_millis, s.memory_mib, s.disk_mib, s.iops, s.ports,
                    s.driver
                from (select name from pool order by name limit 1000) p
                cross join lateral (
                    select t.tenant_id, t.strand, t.id, t.run_at, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports,
                        t.driver from task t
                    where t.pool = p.name and t.state = 'ready'
                    order by t.state, t.tenant_id, t.strand, t.start_deadline, t.id limit 1) s
                union all
                select r.pool, s.tenant_id, s.strand, s.id, s.run_at, s.cpu_millis, s.memory_mib, s.disk_mib, s.iops, s.ports,
                    s.driver
                from strand r
                cross join lateral (
                    select t.tenant_id, t.strand, t.id, t.run_at, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports,
                        t.driver from task t
                    where t.pool = r.pool and t.state = 'ready' and (t.tenant_id, t.strand) > (r.tenant_id, r.strand)
                    order by t.state, t.tenant_id, t.strand, t.start_deadline, t.id limit 1) s
            )
            select s.pool as "pool!", coalesce(sum(c.tasks), 0)::bigint as "tasks!", min(s.id::text) as "example!",
                (array_agg(case when s.cpu_millis > m.cpu then 'cpu_millis' when s.memory_mib > m.memory then 'memory_mib'
                    when s.disk_mib > m.disk then 'disk_mib' when s.iops > m.iops then 'iops' when s.ports > m.ports then 'ports'
                    when not m.has_driver then 'the driver ' || s.driver end
                    order by s.id::text))[1] as short_of
            from (select * from strand limit 10000) s
            cross join lateral (
                select count(*) as tasks from (
                    select from task t where t.pool = s.pool and t.state = 'ready' and t.tenant_id = s.tenant_id and t.strand = s.strand
                    limit 10000) w) c
            cross join lateral (
                select max(e.cpu_millis) as cpu, max(e.memory_mib) as memory, max(e.disk_mib) as disk, max(e.iops) as iops,
                    max(e.port_count) as ports,
                    bool_or(s.driver is null or e.drivers is null or s.driver = any (e.drivers)) as has_driver
                from executor_session e
                where e.pool = s.pool and e.ended_at is null and e.expires_at > now() - interval '1 minute') m
            where s.run_at < now() - $1 * interval '1 millisecond'
                and not exists (
                    select from executor_session e
                    where e.pool = s.pool and e.ended_at is null and e.expires_at > now() - interval '1 minute'
                        and e.cpu_millis >= s.cpu_millis and e.memory_mib >= s.memory_mib and e.disk_mib >= s.disk_mib
                        and e.iops >= s.iops and e.port_count >= s.ports
                        and (s.driver is null or e.drivers is null or s.driver = any (e.drivers)))
            group by s.pool order by s.pool"#,
        millis(options.overdue) as f64
    );
    let rows = patient("doctor.unplaceable", query.fetch_all(tx)).await?;
    let pool = rows.into_iter().map(|row| Unplaceable {
        pool: row.pool,
        tasks: row.tasks.unsigned_abs(),
        example: task_id(&row.example),
        short_of: row.short_of,
    });
    Ok(pool.collect())
}

/// A task's id as everybody else shows it.
pub(super) fn task_id(uuid: &str) -> String {
    uuid.parse::<Uuid>().map_or_else(|_| uuid.to_owned(), |id| TaskId(id).to_string())
}

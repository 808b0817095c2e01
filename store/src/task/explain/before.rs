//! Where a ready task stands among its tenant's.
//!
//! They wait in strands (see [`domain::batch::Strand`]), each in the order of its start deadlines, so the first of each strand
//! tells whether anything of it may start now, and what goes before is a range of each.

use super::live::{Live, priority};
use super::most::MOST;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use chrono::TimeDelta;
use domain::batch::Priority;
use domain::explain::{Rooms, Turn};
use domain::id::{PoolName, TaskId};
use domain::resources::Resources;
use domain::task::DriverName;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// Strands that are looked at.
const STRANDS: usize = 100;

/// The first of a strand, and what holds for all of it.
struct Head {
    strand: i64,
    first: (Timestamp, TaskId),
    priority: Priority,
    resources: Resources,
    driver: Option<DriverName>,
    concurrency_key: Option<String>,
    key_full: bool,
    /// Some of it are late.
    late: bool,
    /// Some of it are on time.
    on_time: bool,
}

/// Where `task` stands, and whether others with its concurrency key go before it.
pub(super) async fn read(
    tx: &mut PgConnection,
    scope: &TenantScope,
    task: &Live,
    rooms: &Rooms,
) -> Result<(Turn, bool), StoreError> {
    let mut heads = heads(tx, scope, &task.pool).await?;
    let more = heads.len() > STRANDS;
    let own = (task.start_deadline, task.id);
    let others_before = heads.iter().any(|head| {
        let same = task.concurrency_key.is_some() && head.concurrency_key == task.concurrency_key;
        same && head.first < (bound(task, head), own.1)
    });
    // What stands aside holds back nobody.
    heads.retain(|head| !head.key_full && !rooms.passes_over(head.driver, head.resources));
    let late = task.start_deadline < task.at;
    let (seen, before) = count(tx, task, late, &heads).await?;
    let turn = Turn {
        tasks_before: before.min(MOST.unsigned_abs()),
        at_least: more || seen > MOST.unsigned_abs(),
        late,
        shared: heads.iter().any(|head| if late { head.on_time } else { head.late }),
        tenants_before: task.tenant.map(|tenant| tenant.before),
        rate: task.tenant.map(|tenant| tenant.rate),
    };
    Ok((turn, others_before))
}

/// What goes before `task` in the strand of `head` has an earlier start deadline than this: a level of priority is worth a minute.
fn bound(task: &Live, head: &Head) -> Timestamp {
    let ahead = head.priority.level() - task.priority.level();
    task.start_deadline + TimeDelta::minutes(ahead.into())
}

/// The first of each strand that has ready tasks; one more than are looked at where there are more.
async fn heads(
    tx: &mut PgConnection,
    scope: &TenantScope,
    pool: &PoolName,
) -> Result<Vec<Head>, StoreError> {
    // Each order names the state, as in `select_ready`.
    let query = sqlx::query!(
        r#"with recursive strand as (
                (select t.strand from task_turn t where t.pool = $1 and t.state = 'ready' order by t.state, t.strand limit 1)
                union all
                select n.strand from strand s cross join lateral (
                    select t.strand from task_turn t where t.pool = $1 and t.state = 'ready' and t.strand > s.strand
                    order by t.state, t.strand limit 1) n
            ), held as materialized (
                select k.key, count(*) as tasks from key_holder k group by k.key
            )
            select s.strand as "strand!", h.id as "id!", h.start_deadline as "start_deadline!", h.priority as "priority!",
                h.concurrency_key as "key?", h.cpu_millis as "cpu!", h.memory_mib as "memory!", h.disk_mib as "disk!",
                h.iops as "iops!", h.ports as "ports!", h.driver as "driver?", h.start_deadline < now() as "late!",
                coalesce((select true from task_turn o where o.pool = $1 and o.state = 'ready' and o.strand = s.strand
                    and o.start_deadline >= now() order by o.state, o.strand, o.start_deadline, o.id limit 1), false) as "on_time!",
                -- Counted once, and only where a strand has a key.
                case when h.concurrency_key is null then false
                    else coalesce((select u.tasks from held u where u.key = h.concurrency_key), 0) >= l.running end as "key_full!"
            from (select f.strand from strand f limit $3) s
            cross join lateral (
                select t.id, t.start_deadline, t.priority, t.concurrency_key, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops,
                    t.ports, t.driver
                from task_turn t where t.pool = $1 and t.state = 'ready' and t.strand = s.strand
                order by t.state, t.start_deadline, t.id limit 1) h
            left join lateral (
                select coalesce((select c.running from concurrency_limit c
                    where c.tenant_id = $2 and c.key = h.concurrency_key), 1) as running
                where h.concurrency_key is not null) l on true"#,
        pool.as_str(),
        scope.tenant().uuid(),
        STRANDS as i64 + 1
    );
    let rows = patient("task.explain_strands", query.fetch_all(tx)).await?;
    let head = rows.into_iter().map(|row| Head {
        strand: row.strand,
        first: (row.start_deadline, TaskId(row.id)),
        priority: priority(row.priority),
        resources: Resources::from_dimensions(
            [row.cpu, row.memory, row.disk, row.iops, row.ports].map(i32::unsigned_abs),
        ),
        driver: row.driver.as_ref().and_then(|driver| driver.parse().ok()),
        concurrency_key: row.key,
        key_full: row.key_full,
        late: row.late,
        on_time: row.on_time,
    });
    Ok(head.collect())
}

/// Tasks looked at, and those of them that go before `task` in its class.
async fn count(
    tx: &mut PgConnection,
    task: &Live,
    late: bool,
    heads: &[Head],
) -> Result<(u64, u64), StoreError> {
    let strands: Vec<_> = heads.iter().map(|head| head.strand).collect();
    // The late go by how long they have waited, so all that are late are looked at.
    let bounds: Vec<_> =
        heads.iter().map(|head| if late { task.at } else { bound(task, head) }).collect();
    let from = (!late).then_some(task.at);
    let query = sqlx::query!(
        r#"select count(*) as "seen!", count(*) filter (where
                case when $5 then (w.run_at, w.id) < ($6, $7) else (w.start_deadline, w.id) < (w.bound, $7) end
                -- Flexible tasks go on spare room until then: see `Candidate::spare_until`.
                and not (w.flexible and now() < w.start_deadline - (w.start_deadline - w.run_at) / 10)) as "before!"
            from (
                select t.id, t.run_at, t.start_deadline, t.flexible, s.bound
                from unnest($2::bigint[], $3::timestamptz[]) as s(strand, bound)
                cross join lateral (
                    select r.id, r.run_at, r.start_deadline, r.flexible from task_turn r
                    where r.pool = $1 and r.state = 'ready' and r.strand = s.strand
                        and r.start_deadline >= coalesce($4::timestamptz, '-infinity') and r.start_deadline <= s.bound
                    order by r.state, r.start_deadline, r.id limit $8) t
                limit $8) w"#,
        task.pool.as_str(),
        &strands,
        &bounds,
        from,
        late,
        task.run_at,
        task.id.uuid(),
        MOST + 1
    );
    let row = patient("task.explain_before", query.fetch_optional(tx)).await?;
    Ok(row.map_or((0, 0), |row| (row.seen.unsigned_abs(), row.before.unsigned_abs())))
}

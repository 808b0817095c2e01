//! What the batcher may choose from: the first tasks of those whose turn it may be.
//!
//! Tasks wait in strands (see [`Strand`]), which are found by skipping through the index from one to the next, so many at a
//! time, from where the last look ended; and those asked for by name besides. Of each strand the first tasks are read. So the cost
//! follows what is looked at, never what waits: not the backlog, not the number of tenants, and nothing is read past that
//! could not start. Each `order by` names the state, which is the same in all rows: under row-level security the planner does
//! not know that (enum equality is not leakproof), and would sort.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::batch::{ConcurrencyKey, Priority, Strand};
use domain::fairness::NameKey;
use domain::id::{PoolName, TaskId, TenantId};
use domain::placement::Shapes;
use domain::resources::Resources;
use domain::time::Timestamp;
use std::time::Duration;
use uuid::Uuid;

/// A ready task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateRow {
    /// Which it is.
    pub task: TaskId,
    /// Since when it might have started.
    pub due: Timestamp,
    /// Until when it should start.
    pub start_deadline: Timestamp,
    /// What it needs.
    pub resources: Resources,
    /// Room it takes, in basic tasks.
    pub slots: u32,
    /// How long it may run.
    pub cap: Duration,
    /// Its tenant was charged for this start already: an earlier dispatch came to nothing.
    pub prepaid: bool,
    /// Before or after others of its tenant.
    pub priority: Priority,
    /// What it is called.
    pub name: NameKey,
    /// It runs on spare room for most of its tolerance.
    pub flexible: bool,
}

/// The first tasks of a strand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrandRows {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which it is.
    pub strand: Strand,
    /// What its tasks share a limit with.
    pub key: Option<ConcurrencyKey>,
    /// Its tasks find no room for their size now.
    pub lacks_room: bool,
    /// The late ones, earliest deadline first, and then those on time.
    pub rows: Vec<CandidateRow>,
    /// There may be more that are late than these.
    pub more_late: bool,
    /// There may be more on time than these.
    pub more_on_time: bool,
}

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// Strands after this one are looked for, `None`: from the first on, ...
    pub after: Option<(TenantId, Strand)>,
    /// ... so many at most.
    pub strands: u64,
    /// These are looked at besides.
    pub named: &'a [(TenantId, Strand)],
    /// Tasks of each strand, at most, of the late and of the others each.
    pub per_strand: u64,
    /// Strands of which fewer are wanted, down to none.
    pub fewer: &'a [(TenantId, Strand, u64)],
    /// Per dimension the most any executor could ever hold.
    pub largest: Resources,
    /// Sizes that find no room now.
    pub lacks: &'a Shapes,
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// By the database's clock.
    pub now: Timestamp,
    /// Each strand that has anything ready, once.
    pub strands: Vec<StrandRows>,
    /// Where the next look goes on; `None`: all that come after `after` were seen.
    pub next: Option<(TenantId, Strand)>,
}

/// Looks at strands of `pool`. Of each its first tasks; none where it finds no room or its tenant may start nothing. Leaves out what
/// is about to expire.
///
/// # Errors
/// When the database cannot answer.
#[expect(clippy::too_many_lines, reason = "one statement, its arrays and its rows")]
pub async fn candidates(
    db: &SchedulerDb,
    pool: &PoolName,
    look: Look<'_>,
) -> Result<Seen, StoreError> {
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let few_tenants: Vec<_> = look.fewer.iter().map(|(tenant, _, _)| tenant.uuid()).collect();
    let few_strands: Vec<_> = look.fewer.iter().map(|(_, strand, _)| strand.0).collect();
    let few: Vec<_> = look.fewer.iter().map(|(_, _, most)| number(*most)).collect();
    let (tenants, strands): (Vec<_>, Vec<_>) =
        look.named.iter().map(|(tenant, strand)| (tenant.uuid(), strand.0)).unzip();
    let most = look.largest.dimensions().map(|n| i32::try_from(n).unwrap_or(i32::MAX));
    let lacking: [Vec<i32>; 5] = std::array::from_fn(|d| {
        let sizes = look.lacks.least().iter();
        sizes.map(|size| i32::try_from(size.dimensions()[d]).unwrap_or(i32::MAX)).collect()
    });
    let after = look.after.map_or((Uuid::nil(), i64::MIN), |(t, strand)| (t.uuid(), strand.0));
    let query = sqlx::query!(
        r#"with recursive scan as (
                (select t.tenant_id, t.strand from task t
                    where t.pool = $1 and t.state = 'ready' and (t.tenant_id, t.strand) > ($2, $3)
                    order by t.state, t.tenant_id, t.strand limit 1)
                union all
                select n.tenant_id, n.strand from scan s cross join lateral (
                    select t.tenant_id, t.strand from task t
                    where t.pool = $1 and t.state = 'ready' and (t.tenant_id, t.strand) > (s.tenant_id, s.strand)
                    order by t.state, t.tenant_id, t.strand limit 1) n
            ), found as materialized (
                select s.tenant_id, s.strand from scan s limit $4
            ), strand as (
                select f.tenant_id, f.strand, true as found from found f
                union all
                select i.tenant_id, i.strand, false from unnest($5::uuid[], $6::bigint[]) as i(tenant_id, strand)
                where (i.tenant_id, i.strand) not in (select f.tenant_id, f.strand from found f)
            )
            select now() as "now!", s.tenant_id as "tenant_id?", s.strand as "strand?", s.found as "found?", h.concurrency_key as "key?",
                h.priority as "priority?", h.flexible as "flexible?", h.fits as "fits?", least($7, f.most) as "most!", c.id as "id?",
                c.late as "late?", c.run_at as "run_at?", c.start_deadline as "start_deadline?", c.cpu_millis as "cpu_millis?",
                c.memory_mib as "memory_mib?", c.disk_mib as "disk_mib?", c.iops as "iops?", c.ports as "ports?",
                c.slots as "slots?", c.cap_ms as "cap_ms?", c.prepaid as "prepaid?", c.name_key as "name_key?"
            from (select) one
            left join strand s on true
            left join unnest($8::uuid[], $9::bigint[], $21::bigint[]) as f(tenant_id, strand, most)
                on f.tenant_id = s.tenant_id and f.strand = s.strand
            left join lateral (
                select t.concurrency_key, t.priority, t.flexible, t.expire_if_late,
                    t.cpu_millis <= $10 and t.memory_mib <= $11 and t.disk_mib <= $12 and t.iops <= $13 and t.ports <= $14
                        and ($15 or not exists (
                            select from unnest($16::integer[], $17::integer[], $18::integer[], $19::integer[], $20::integer[])
                                as l(cpu, memory, disk, iops, ports)
                            where t.cpu_millis >= l.cpu and t.memory_mib >= l.memory and t.disk_mib >= l.disk
                                and t.iops >= l.iops and t.ports >= l.ports)) as fits
                from task t
                where t.pool = $1 and t.state = 'ready' and t.tenant_id = s.tenant_id and t.strand = s.strand
                order by t.state, t.start_deadline, t.id limit 1
            ) h on true
            left join lateral (
                (select true as late, l.* from (
                    -- What is about to expire is not read past for long: it goes within a second.
                    select t.id, t.run_at, t.start_deadline, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports, t.slots,
                        t.cap_ms, t.prepaid, t.name_key, t.expire_if_late, t.first_started_at
                    from task t
                    where t.pool = $1 and t.state = 'ready' and t.tenant_id = s.tenant_id and t.strand = s.strand
                        and t.start_deadline < now()
                    order by t.state, t.start_deadline, t.id limit case when h.expire_if_late then 1000 else least($7, f.most) end) l
                where not (l.expire_if_late and l.first_started_at is null)
                limit least($7, f.most))
                union all
                (select false as late, t.id, t.run_at, t.start_deadline, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops,
                    t.ports, t.slots, t.cap_ms, t.prepaid, t.name_key, t.expire_if_late, t.first_started_at
                from task t
                where t.pool = $1 and t.state = 'ready' and t.tenant_id = s.tenant_id and t.strand = s.strand
                    and t.start_deadline >= now()
                order by t.state, t.start_deadline, t.id limit least($7, f.most))
            ) c on h.fits"#,
        pool.as_str(),
        after.0,
        after.1,
        number(look.strands),
        &tenants,
        &strands,
        number(look.per_strand),
        &few_tenants,
        &few_strands,
        most[0],
        most[1],
        most[2],
        most[3],
        most[4],
        look.lacks.is_empty(),
        &lacking[0],
        &lacking[1],
        &lacking[2],
        &lacking[3],
        &lacking[4],
        &few
    );
    let rows = named("task.candidates", query.fetch_all(db.dispatch_pool())).await?;
    let now = rows.first().map(|row| row.now).unwrap_or_default();
    let mut seen = Seen { now, strands: Vec::new(), next: None };
    let (mut found, mut last, mut left) = (0, None, [0; 2]);
    for row in rows {
        let (Some(tenant), Some(strand)) = (row.tenant_id, row.strand) else { continue };
        let at = (TenantId(tenant), Strand(strand));
        if last != Some(at) && row.found == Some(true) {
            (found, last) = (found + 1, Some(at));
        }
        // Without a first task it has gone meanwhile.
        let Some(fits) = row.fits else { continue };
        if seen.strands.last().is_none_or(|strand| (strand.tenant, strand.strand) != at) {
            left = [row.most; 2];
            seen.strands.push(StrandRows {
                tenant: at.0,
                strand: at.1,
                key: row.key.map(|key| ConcurrencyKey(key.into())),
                lacks_room: !fits,
                rows: Vec::new(),
                more_late: false,
                more_on_time: false,
            });
        }
        let Some(strand) = seen.strands.last_mut() else { continue };
        let (Some(id), Some(late)) = (row.id, row.late) else { continue };
        let size = |n: Option<i32>| n.unwrap_or(0).unsigned_abs();
        strand.rows.push(CandidateRow {
            task: TaskId(id),
            due: row.run_at.unwrap_or_default(),
            start_deadline: row.start_deadline.unwrap_or_default(),
            resources: Resources::from_dimensions(
                [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports].map(size),
            ),
            slots: size(row.slots),
            cap: Duration::from_millis(row.cap_ms.unwrap_or(0).unsigned_abs()),
            prepaid: row.prepaid.unwrap_or(false),
            priority: row.priority.and_then(priority_of).unwrap_or_default(),
            name: NameKey(row.name_key.unwrap_or(0).cast_unsigned()),
            flexible: row.flexible.unwrap_or(false),
        });
        left[usize::from(late)] -= 1;
        (strand.more_on_time, strand.more_late) = (left[0] == 0, left[1] == 0);
    }
    seen.next = last.filter(|_| found == look.strands);
    Ok(seen)
}

fn priority_of(level: i16) -> Option<Priority> {
    Priority::new(i8::try_from(level).ok()?)
}

//! What the batcher may choose from: the first tasks of those whose turn it may be.
//!
//! Tasks wait in strands (see [`Strand`]), which are found by skipping through the index from one to the next. A look goes round the
//! tenants, from where the last one ended, past those of their strands that are beyond the first few; so one with very many hides no
//! other. Those asked for by name show more of theirs, a strand of each in turn until there are enough. Of each strand the first
//! tasks are read: tenants have as many rows each, however many strands they have. So the cost follows what is looked at, never what
//! waits: not the backlog, not the number of tenants, and nothing is read past that could not start.
//!
//! What was handed out a moment ago still stands in the index, before all that waits, and each entry of it costs a look at its row:
//! only the walk that finds a strand meets those. Its first row is read where it was found, and the others from its deadline on; for
//! late ones only where that has passed. Each `order by` names the state, which is the same in all rows: under row-level security the
//! planner does not know that (enum equality is not leakproof), and would sort.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::hot::kept;
use crate::malformed;
use domain::batch::{ConcurrencyKey, Priority, Strand};
use domain::fairness::NameKey;
use domain::id::{PoolName, TaskId, TenantId};
use domain::placement::Shapes;
use domain::resources::Resources;
use domain::time::Timestamp;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
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
    /// What it shares a limit with. Strands may collide, so it is not always that of its strand.
    pub key: Option<ConcurrencyKey>,
}

/// The first tasks of a strand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrandRows {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which it is.
    pub strand: Strand,
    /// What its tasks share a limit with, and how many of them may run at once.
    pub key: Option<(ConcurrencyKey, u64)>,
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
    /// Tenants after this one are gone round, `None`: from the first on, ...
    pub after: Option<TenantId>,
    /// ... of each so many strands at most, ...
    pub of_tenant: u64,
    /// ... and so many in all.
    pub strands: u64,
    /// These tenants are looked at besides: strands after this one, and then those before it.
    pub named: &'a [(TenantId, Option<Strand>)],
    /// Strands of these, in all, at most; one of each, at least.
    pub named_strands: u64,
    /// Tasks, in all, about, of the late and of the others each.
    pub rows: u64,
    /// Tasks of each strand, at most, of the late and of the others each.
    pub per_strand: u64,
    /// Tenants of which fewer are wanted of each strand, down to none.
    pub fewer: &'a [(TenantId, u64)],
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
    /// Each strand that has anything ready, once; by tenant.
    pub strands: Vec<StrandRows>,
    /// Where the next look goes on; `None`: all that come after `after` were seen.
    pub next: Option<TenantId>,
    /// Tenants that may have other strands, and after which one the next look at them goes on.
    pub partly: HashMap<TenantId, Strand>,
}

/// What a row that was read says of a task: `candidate!(row, its id, its key)`. What is no value counts as none: such a row is not
/// handed out, and ends soon.
macro_rules! candidate {
    ($row:ident, $id:expr, $key:expr) => {{
        let size = |n: Option<i32>| n.unwrap_or(0).unsigned_abs();
        CandidateRow {
            task: TaskId($id),
            due: $row.run_at.unwrap_or_default(),
            start_deadline: $row.start_deadline.unwrap_or_default(),
            resources: Resources::from_dimensions(
                [$row.cpu_millis, $row.memory_mib, $row.disk_mib, $row.iops, $row.ports].map(size),
            ),
            slots: size($row.slots),
            cap: Duration::from_millis($row.cap_ms.unwrap_or(0).unsigned_abs()),
            prepaid: $row.prepaid.unwrap_or(false),
            priority: $row.priority.and_then(priority_of).unwrap_or_default(),
            name: NameKey($row.name_key.unwrap_or(0).cast_unsigned()),
            flexible: $row.flexible.unwrap_or(false),
            key: key_of($key),
        }
    }};
}
pub(super) use candidate;

/// Of a strand [`LEAST`] rows are read, however many share them.
const LEAST: i64 = 4;

/// Looks at tasks of `pool`. Of each strand that is looked at its first; none where it finds no room or its tenant may start nothing. Leaves
/// out what is about to expire.
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
    let (few_tenants, few): (Vec<_>, Vec<_>) =
        look.fewer.iter().map(|(tenant, most)| (tenant.uuid(), number(*most))).unzip();
    let stretches = stretches(look.named);
    let tenants: Vec<_> = stretches.iter().map(|stretch| stretch.0).collect();
    let (afters, untils): (Vec<_>, Vec<_>) =
        stretches.iter().map(|(_, after, until)| (*after, *until)).unzip();
    let named_strands = look.named_strands.max(stretches.len() as u64);
    let most = look.largest.dimensions().map(|n| i32::try_from(n).unwrap_or(i32::MAX));
    let lacking: [Vec<i32>; 5] = std::array::from_fn(|d| {
        let sizes = look.lacks.least().iter();
        sizes.map(|size| i32::try_from(size.dimensions()[d]).unwrap_or(i32::MAX)).collect()
    });
    let query = sqlx::query!(
        r#"with recursive round as (
                (select t.tenant_id, t.strand, t.start_deadline, t.ctid as place, 1 as of_tenant from task t
                    where t.pool = $1 and t.state = 'ready' and t.tenant_id > $2
                    order by t.state, t.tenant_id, t.strand, t.start_deadline, t.id limit 1)
                union all
                select n.tenant_id, n.strand, n.start_deadline, n.place, case when n.tenant_id = r.tenant_id then r.of_tenant + 1 else 1 end
                from round r cross join lateral (
                    select t.tenant_id, t.strand, t.start_deadline, t.ctid as place from task t
                    where t.pool = $1 and t.state = 'ready' and (t.tenant_id, t.strand)
                        > (r.tenant_id, case when r.of_tenant < $3 then r.strand else 9223372036854775807 end)
                    order by t.state, t.tenant_id, t.strand, t.start_deadline, t.id limit 1) n
            ), stretch as (
                select i.tenant_id, n.strand, n.start_deadline, n.place, i.until
                from unnest($5::uuid[], $6::bigint[], $7::bigint[]) as i(tenant_id, after, until) cross join lateral (
                    select t.strand, t.start_deadline, t.ctid as place from task t
                    where t.pool = $1 and t.state = 'ready' and t.tenant_id = i.tenant_id and t.strand > i.after and t.strand <= i.until
                    order by t.state, t.strand, t.start_deadline, t.id limit 1) n
                union all
                select s.tenant_id, n.strand, n.start_deadline, n.place, s.until
                from stretch s cross join lateral (
                    select t.strand, t.start_deadline, t.ctid as place from task t
                    where t.pool = $1 and t.state = 'ready' and t.tenant_id = s.tenant_id and t.strand > s.strand and t.strand <= s.until
                    order by t.state, t.strand, t.start_deadline, t.id limit 1) n
            ), found as materialized (
                select r.tenant_id, r.strand, r.start_deadline, r.place from round r limit $4
            ), asked as materialized (
                select s.tenant_id, s.strand, s.start_deadline, s.place from stretch s limit $8
            ), strand as materialized (
                select b.tenant_id, b.strand, min(b.start_deadline) as first, min(b.place) as place, bool_or(b.found) as found,
                    bool_or(not b.found) as asked, count(*) over (partition by b.tenant_id) as of_tenant
                from (select f.tenant_id, f.strand, f.start_deadline, f.place, true as found from found f
                    union all select a.tenant_id, a.strand, a.start_deadline, a.place, false from asked a) b
                group by b.tenant_id, b.strand
            )
            select now() as "now!", s.tenant_id as "tenant_id?", s.strand as "strand?", s.found as "found?", s.asked as "asked?",
                h.concurrency_key as "key?", k.running as "running?", h.fits as "fits?", m.most as "most!", c.id as "id?",
                c.late as "late?",
                -- Times that no clock shows would not survive being read.
                least(greatest(c.run_at, $26), $27) as "run_at?", least(greatest(c.start_deadline, $26), $27) as "start_deadline?",
                c.cpu_millis as "cpu_millis?",
                c.memory_mib as "memory_mib?", c.disk_mib as "disk_mib?", c.iops as "iops?", c.ports as "ports?",
                c.slots as "slots?", c.cap_ms as "cap_ms?", c.prepaid as "prepaid?", c.name_key as "name_key?",
                c.priority as "priority?", c.flexible as "flexible?", c.concurrency_key as "own_key?"
            from (select) one
            left join strand s on true
            left join unnest($11::uuid[], $12::bigint[]) as f(tenant_id, most) on f.tenant_id = s.tenant_id
            left join lateral (
                select t.concurrency_key, t.expire_if_late,
                    t.cpu_millis <= $13 and t.memory_mib <= $14 and t.disk_mib <= $15 and t.iops <= $16 and t.ports <= $17
                        and ($18 or not exists (
                            select from unnest($19::integer[], $20::integer[], $21::integer[], $22::integer[], $23::integer[])
                                as l(cpu, memory, disk, iops, ports)
                            where t.cpu_millis >= l.cpu and t.memory_mib >= l.memory and t.disk_mib >= l.disk
                                and t.iops >= l.iops and t.ports >= l.ports)) as fits
                from task t
                -- Its first task as it was found; the same statement sees the same row there.
                where t.ctid = s.place
            ) h on true
            left join lateral (
                select l.running from concurrency_limit l where l.tenant_id = s.tenant_id and l.key = h.concurrency_key limit 1
            ) k on true
            -- Of a key one more than may ever run: that tells that some are held back.
            cross join lateral (
                select least(greatest($9 / nullif((select count(distinct d.tenant_id) from strand d), 0) / s.of_tenant, $24), $10, f.most,
                    case when h.concurrency_key is not null then case when k.running between 0 and 1000000 then k.running else $25 end + 1 end) as most
            ) m
            left join lateral (
                (select true as late, l.* from (
                    -- What is about to expire is not read past for long: it goes within a second.
                    select t.id, t.run_at, t.start_deadline, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports, t.slots,
                        t.cap_ms, t.prepaid, t.name_key, t.priority, t.flexible, t.concurrency_key, t.expire_if_late, t.first_started_at
                    from task t
                    where t.pool = $1 and t.state = 'ready' and t.tenant_id = s.tenant_id and t.strand = s.strand
                        and t.start_deadline >= s.first and t.start_deadline < now() and s.first < now()
                    order by t.state, t.start_deadline, t.id limit case when h.expire_if_late then 1000 else m.most end) l
                where not (l.expire_if_late and l.first_started_at is null)
                limit m.most)
                union all
                (select false as late, t.id, t.run_at, t.start_deadline, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops,
                    t.ports, t.slots, t.cap_ms, t.prepaid, t.name_key, t.priority, t.flexible, t.concurrency_key, t.expire_if_late,
                    t.first_started_at
                from task t
                where t.pool = $1 and t.state = 'ready' and t.tenant_id = s.tenant_id and t.strand = s.strand
                    and t.start_deadline >= greatest(s.first, now())
                order by t.state, t.start_deadline, t.id limit m.most)
            ) c on h.fits"#,
        pool.as_str(),
        look.after.map_or(Uuid::nil(), |tenant| tenant.uuid()),
        i32::try_from(look.of_tenant).unwrap_or(i32::MAX),
        number(look.strands),
        &tenants,
        &afters,
        &untils,
        number(named_strands),
        number(look.rows),
        number(look.per_strand),
        &few_tenants,
        &few,
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
        LEAST,
        i32::try_from(ConcurrencyKey::USUAL_LIMIT).unwrap_or(i32::MAX),
        malformed::LEAST,
        malformed::MOST
    );
    let mut rows = kept!(db.dispatch(), "task.candidates", query.fetch_all);
    // The statement promises no order; and mostly it comes in this one.
    rows.sort_by_key(|r| (r.tenant_id, r.strand, Reverse(r.late), r.start_deadline, r.id));
    let now = rows.first().map(|row| row.now).unwrap_or_default();
    let mut seen = Seen { now, strands: Vec::new(), next: None, partly: HashMap::new() };
    let (mut places, mut last, mut left) = (Places::default(), None, [0; 2]);
    for row in rows {
        let (Some(tenant), Some(strand)) = (row.tenant_id, row.strand) else { continue };
        let at = (TenantId(tenant), Strand(strand));
        if last != Some(at) {
            last = Some(at);
            places.found.extend((row.found == Some(true)).then_some(at));
            places.asked.extend((row.asked == Some(true)).then_some(at));
        }
        // Without a first task it has gone meanwhile.
        let Some(fits) = row.fits else { continue };
        if seen.strands.last().is_none_or(|strand| (strand.tenant, strand.strand) != at) {
            left = [row.most; 2];
            let limit = key_limit(row.running, at.0);
            seen.strands.push(StrandRows {
                tenant: at.0,
                strand: at.1,
                key: key_of(row.key).map(|key| (key, limit.into())),
                lacks_room: !fits,
                rows: Vec::new(),
                more_late: false,
                more_on_time: false,
            });
        }
        let Some(strand) = seen.strands.last_mut() else { continue };
        let (Some(id), Some(late)) = (row.id, row.late) else { continue };
        strand.rows.push(candidate!(row, id, row.own_key));
        left[usize::from(late)] -= 1;
        (strand.more_on_time, strand.more_late) = (left[0] == 0, left[1] == 0);
    }
    (seen.next, seen.partly) = places.ends(&look, named_strands);
    Ok(seen)
}

/// Where strands are that were looked at, in their order.
#[derive(Default)]
struct Places {
    found: Vec<(TenantId, Strand)>,
    asked: Vec<(TenantId, Strand)>,
}

impl Places {
    /// Where the next look goes on: round the tenants, and inside those of which not all may have been seen.
    fn ends(
        &self,
        look: &Look<'_>,
        named_strands: u64,
    ) -> (Option<TenantId>, HashMap<TenantId, Strand>) {
        let last = self.found.last().filter(|_| self.found.len() as u64 == look.strands);
        let next = last.map(|(tenant, _)| *tenant);
        let mut partly = HashMap::new();
        for of_tenant in self.found.chunk_by(|a, b| a.0 == b.0) {
            let [.., (tenant, strand)] = of_tenant else { continue };
            if of_tenant.len() as u64 == look.of_tenant || next == Some(*tenant) {
                partly.insert(*tenant, *strand);
            }
        }
        if (self.asked.len() as u64) < named_strands {
            // All of theirs was seen.
            for (tenant, _) in look.named {
                partly.remove(tenant);
            }
            return (next, partly);
        }
        let asked: HashSet<_> = self.asked.iter().map(|(tenant, _)| *tenant).collect();
        for (tenant, after) in look.named.iter().filter(|(tenant, _)| asked.contains(tenant)) {
            let beyond = |at: &&(TenantId, Strand)| at.0 == *tenant && Some(at.1) > *after;
            let last = self.asked.iter().rfind(beyond).map(|at| at.1);
            // After the last it begins anew.
            partly.insert(*tenant, last.unwrap_or(Strand(i64::MIN)));
        }
        (next, partly)
    }
}

/// The stretches of strands that are looked at: after, until.
fn stretches(named: &[(TenantId, Option<Strand>)]) -> Vec<(Uuid, i64, i64)> {
    let of = |(tenant, after): &(TenantId, Option<Strand>)| {
        let (tenant, all) = (tenant.uuid(), (i64::MIN, i64::MAX));
        let beyond = (tenant, after.map_or(all.0, |strand| strand.0), all.1);
        let before = after.map(|strand| (tenant, all.0, strand.0));
        std::iter::once(beyond).chain(before)
    };
    named.iter().flat_map(of).collect()
}

pub(super) fn key_of(key: Option<String>) -> Option<ConcurrencyKey> {
    key.map(|key| ConcurrencyKey(key.into()))
}

/// How many tasks of a key may run at once. A stored limit that is none is not used.
pub(super) fn key_limit(stored: Option<i32>, tenant: TenantId) -> u32 {
    match stored {
        None => ConcurrencyKey::USUAL_LIMIT,
        Some(limit @ 0..=1_000_000) => limit.unsigned_abs(),
        Some(_) => {
            malformed::tell("concurrency_limit", &tenant.to_string(), "running");
            ConcurrencyKey::USUAL_LIMIT
        }
    }
}

pub(super) fn priority_of(level: i16) -> Option<Priority> {
    Priority::new(i8::try_from(level).ok()?)
}

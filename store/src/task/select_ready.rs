//! Reads the ready tasks from which the batcher chooses: `select_ready.sql`, its parameters and its result.
//!
//! Called once for each pool in a tick of the batcher. The rule: the cost follows what is read,
//! never what waits. Each call scans some of the tenants, from where the last scan ended, and
//! besides reads those that the caller requests because it is their turn. So a tenant with very
//! many strands hides no other, and each strand is read in time.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::own::on_own;
use domain::batch::{ConcurrencyKey, Priority, Strand};
use domain::fairness::NameKey;
use domain::id::{PoolName, TaskId, TenantId};
use domain::placement::Lacks;
use domain::resources::Resources;
use domain::task::{DriverName, DriverSet};
use domain::time::Timestamp;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;

/// What to read.
#[derive(Debug, Clone, Copy)]
pub struct SelectionQuery<'a> {
    /// The scan begins after this tenant; `None`: with the first.
    pub after: Option<TenantId>,
    /// Strands of each tenant that the scan reads, at most.
    pub strands_per_tenant: u64,
    /// Strands that the scan reads in all, at most.
    pub scanned_strands: u64,
    /// Tenants to read besides: strands after this one, and then those up to it.
    pub requested: &'a [(TenantId, Option<Strand>)],
    /// Strands of these, in all, at most; one of each, at least.
    pub requested_strands: u64,
    /// Tasks to read in all, about, late and on time each.
    pub rows: u64,
    /// Tasks of each strand, at most, late and on time each.
    pub rows_per_strand: u64,
    /// Tenants of which fewer tasks of each strand are wanted, down to none.
    pub tenant_limits: &'a [(TenantId, u64)],
    /// Per dimension the most that any executor could ever hold.
    pub largest: Resources,
    /// Sizes for which there is no room now.
    pub lacks: &'a Lacks,
    /// Drivers of the pool's executors.
    pub drivers: &'a DriverSet,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// By the database's clock.
    pub now: Timestamp,
    /// Each strand that was read and has a ready task, once; by tenant and strand.
    pub strands: Vec<ReadyStrand>,
    /// The tenant after which the next scan begins; `None`: this one read to the end.
    pub resume_after: Option<TenantId>,
    /// Tenants that may have strands that were not read, and the strand after which the next read
    /// of them begins.
    pub partial: HashMap<TenantId, Strand>,
}

/// The first tasks of a strand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyStrand {
    /// The tenant.
    pub tenant: TenantId,
    /// Which it is.
    pub strand: Strand,
    /// The concurrency key of its tasks, and how many of them may run at once.
    pub key: Option<(ConcurrencyKey, u64)>,
    /// The driver of its tasks; `None`: unknown.
    pub driver: Option<DriverName>,
    /// No executor has room for its tasks now, or none has their driver; none of them is shown.
    pub lacks_room: bool,
    /// The late ones, earliest deadline first, and then those on time. Those that are about to
    /// expire are left out.
    pub tasks: Vec<ReadyTask>,
    /// There may be more that are late than these.
    pub more_late: bool,
    /// There may be more on time than these.
    pub more_on_time: bool,
}

/// A ready task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyTask {
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
    /// Its name, as a key.
    pub name: NameKey,
    /// It runs on spare room for most of its tolerance.
    pub flexible: bool,
    /// Its concurrency key. Strands may collide, so it is not always that of its strand.
    pub key: Option<ConcurrencyKey>,
}

/// A row of the statement: see its comment.
struct SelectionRow {
    now: Timestamp,
    tenant_id: Option<Uuid>,
    strand: Option<i64>,
    scanned: Option<bool>,
    requested: Option<bool>,
    strand_key: Option<String>,
    strand_key_limit: Option<i32>,
    has_room: Option<bool>,
    strand_driver: Option<String>,
    row_limit: i64,
    id: Option<Uuid>,
    late: Option<bool>,
    run_at: Option<Timestamp>,
    start_deadline: Option<Timestamp>,
    cpu_millis: Option<i32>,
    memory_mib: Option<i32>,
    disk_mib: Option<i32>,
    iops: Option<i32>,
    ports: Option<i32>,
    slots: Option<i32>,
    cap_ms: Option<i64>,
    prepaid: Option<bool>,
    name_key: Option<i64>,
    priority: Option<i16>,
    flexible: Option<bool>,
    concurrency_key: Option<String>,
}

/// Reads tasks of `pool` that may be dispatched.
///
/// # Errors
/// When the database cannot answer.
pub async fn select_ready(
    db: &SchedulerDb,
    pool: &PoolName,
    query: SelectionQuery<'_>,
) -> Result<Selection, StoreError> {
    let (limited, row_limits): (Vec<_>, Vec<_>) =
        query.tenant_limits.iter().map(|(tenant, most)| (tenant.uuid(), number(*most))).unzip();
    let ranges = strand_ranges(query.requested);
    let tenants: Vec<_> = ranges.iter().map(|range| range.0).collect();
    let (afters, untils): (Vec<_>, Vec<_>) =
        ranges.iter().map(|(_, after, until)| (*after, *until)).unzip();
    let requested_strands = query.requested_strands.max(ranges.len() as u64);
    let largest = query.largest.dimensions().map(|n| i32::try_from(n).unwrap_or(i32::MAX));
    let lacks: [Vec<i32>; 5] = std::array::from_fn(|d| {
        let sizes = query.lacks.least();
        sizes.map(|(_, size)| i32::try_from(size.dimensions()[d]).unwrap_or(i32::MAX)).collect()
    });
    let text = |driver: DriverName| driver.to_string();
    let lacking_drivers: Vec<_> = query.lacks.least().map(|(driver, _)| driver.map(text)).collect();
    let drivers: Vec<_> = query.drivers.names().into_iter().flatten().copied().map(text).collect();
    let statement = sqlx::query_file_as!(
        SelectionRow,
        "src/task/select_ready.sql",
        pool.as_str(),
        query.after.map_or(Uuid::nil(), |tenant| tenant.uuid()),
        i32::try_from(query.strands_per_tenant).unwrap_or(i32::MAX),
        number(query.scanned_strands),
        &tenants,
        &afters,
        &untils,
        number(requested_strands),
        number(query.rows),
        number(query.rows_per_strand),
        &limited,
        &row_limits,
        largest[0],
        largest[1],
        largest[2],
        largest[3],
        largest[4],
        &lacks[0],
        &lacks[1],
        &lacks[2],
        &lacks[3],
        &lacks[4],
        i32::try_from(ConcurrencyKey::USUAL_LIMIT).unwrap_or(i32::MAX),
        query.drivers.names().is_none(),
        &drivers,
        &lacking_drivers as &[Option<String>]
    );
    let mut rows = on_own!(db.dispatch(), "task.select_ready", statement.fetch_all);
    // The statement promises no order; mostly they come in this one.
    rows.sort_by_key(|r| (r.tenant_id, r.strand, Reverse(r.late), r.start_deadline, r.id));
    let now = rows.first().map(|row| row.now).unwrap_or_default();
    let (mut strands, mut read) = (Vec::new(), StrandsRead::default());
    for rows in rows.chunk_by(|a, b| (a.tenant_id, a.strand) == (b.tenant_id, b.strand)) {
        let Some((row, place)) = rows.first().and_then(|row| Some((row, row.place()?))) else {
            continue;
        };
        read.scanned.extend((row.scanned == Some(true)).then_some(place));
        read.requested.extend((row.requested == Some(true)).then_some(place));
        strands.extend(ready_strand(place, row, rows));
    }
    let (resume_after, partial) = read.resume(&query, requested_strands);
    Ok(Selection { now, strands, resume_after, partial })
}

/// The strand at `place` of its `rows`, of which `first` is one; `None` where its first task has no size.
fn ready_strand(
    place: (TenantId, Strand),
    first: &SelectionRow,
    rows: &[SelectionRow],
) -> Option<ReadyStrand> {
    let has_room = first.has_room?;
    let limit = first.strand_key_limit.map_or(ConcurrencyKey::USUAL_LIMIT, i32::unsigned_abs);
    let more = |late| {
        let shown = rows.iter().filter(|row| row.id.is_some() && row.late == Some(late)).count();
        shown > 0 && number(shown as u64) >= first.row_limit
    };
    Some(ReadyStrand {
        tenant: place.0,
        strand: place.1,
        key: key_of(first.strand_key.as_deref()).map(|key| (key, limit.into())),
        driver: first.strand_driver.as_ref().and_then(|driver| driver.parse().ok()),
        lacks_room: !has_room,
        tasks: rows.iter().filter_map(SelectionRow::task).collect(),
        more_late: more(true),
        more_on_time: more(false),
    })
}

impl SelectionRow {
    fn place(&self) -> Option<(TenantId, Strand)> {
        Some((TenantId(self.tenant_id?), Strand(self.strand?)))
    }

    /// Its task; none in a row that shows none.
    fn task(&self) -> Option<ReadyTask> {
        let size = |n: Option<i32>| n.unwrap_or(0).unsigned_abs();
        let dimensions = [self.cpu_millis, self.memory_mib, self.disk_mib, self.iops, self.ports];
        Some(ReadyTask {
            task: TaskId(self.id?),
            due: self.run_at.unwrap_or_default(),
            start_deadline: self.start_deadline.unwrap_or_default(),
            resources: Resources::from_dimensions(dimensions.map(size)),
            slots: size(self.slots),
            cap: Duration::from_millis(self.cap_ms.unwrap_or(0).unsigned_abs()),
            prepaid: self.prepaid.unwrap_or(false),
            priority: self.priority.and_then(priority_of).unwrap_or_default(),
            name: NameKey(self.name_key.unwrap_or(0).cast_unsigned()),
            flexible: self.flexible.unwrap_or(false),
            key: key_of(self.concurrency_key.as_deref()),
        })
    }
}

/// The strands that were read, in their order.
#[derive(Default)]
struct StrandsRead {
    scanned: Vec<(TenantId, Strand)>,
    requested: Vec<(TenantId, Strand)>,
}

impl StrandsRead {
    /// Where the next call resumes: the tenant for the scan, and the strand in each tenant of which
    /// not all may have been read.
    fn resume(
        &self,
        query: &SelectionQuery<'_>,
        requested_strands: u64,
    ) -> (Option<TenantId>, HashMap<TenantId, Strand>) {
        let last = self.scanned.last();
        let cut = self.scanned.len() as u64 == query.scanned_strands;
        let resume_after = last.filter(|_| cut).map(|(tenant, _)| *tenant);
        let mut partial = HashMap::new();
        for of_tenant in self.scanned.chunk_by(|a, b| a.0 == b.0) {
            let [.., (tenant, strand)] = of_tenant else { continue };
            let all = of_tenant.len() as u64 == query.strands_per_tenant;
            if all || resume_after == Some(*tenant) {
                partial.insert(*tenant, *strand);
            }
        }
        if (self.requested.len() as u64) < requested_strands {
            // The limit was not reached: of these tenants everything was read.
            for (tenant, _) in query.requested {
                partial.remove(tenant);
            }
            return (resume_after, partial);
        }
        let read: HashSet<_> = self.requested.iter().map(|(tenant, _)| *tenant).collect();
        for (tenant, after) in query.requested.iter().filter(|(tenant, _)| read.contains(tenant)) {
            let beyond = |at: &&(TenantId, Strand)| at.0 == *tenant && Some(at.1) > *after;
            let last = self.requested.iter().rfind(beyond).map(|at| at.1);
            // Past the last strand the next read begins with the first.
            partial.insert(*tenant, last.unwrap_or(Strand(i64::MIN)));
        }
        (resume_after, partial)
    }
}

/// The ranges of strands to read: tenant, after, until.
fn strand_ranges(requested: &[(TenantId, Option<Strand>)]) -> Vec<(Uuid, i64, i64)> {
    let ranges = |(tenant, after): &(TenantId, Option<Strand>)| {
        let (tenant, all) = (tenant.uuid(), (i64::MIN, i64::MAX));
        let beyond = (tenant, after.map_or(all.0, |strand| strand.0), all.1);
        let before = after.map(|strand| (tenant, all.0, strand.0));
        std::iter::once(beyond).chain(before)
    };
    requested.iter().flat_map(ranges).collect()
}

fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn key_of(key: Option<&str>) -> Option<ConcurrencyKey> {
    key.map(|key| ConcurrencyKey(key.into()))
}

fn priority_of(level: i16) -> Option<Priority> {
    Priority::new(i8::try_from(level).ok()?)
}

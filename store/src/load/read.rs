//! The batcher reads what there is to give, and what it has queued.

use super::lacks::of_json;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::drivers::of_column;
use crate::own::on_own;
use domain::id::{NodeId, PoolName};
use domain::placement::Lacks;
use domain::resources::Resources;
use domain::task::DriverSet;

/// One resource manager's figures for a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerLoad {
    /// The resource manager.
    pub owner: NodeId,
    /// Room for basic tasks now.
    pub free_slots: u64,
    /// Slots given back since that process started.
    pub completed_slots: u64,
    /// Per dimension the most any of its executors has.
    pub largest: Resources,
    /// Per dimension all that its executors have.
    pub total: Resources,
    /// Sizes that found no room there.
    pub lacks: Lacks,
    /// Drivers of its executors.
    pub drivers: DriverSet,
}

/// The figures of a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadOfPool {
    /// Those of each resource manager, of the last 3 seconds.
    pub owners: Vec<OwnerLoad>,
    /// Slots of the pool's tasks that are `queued` now.
    pub queued_slots: u64,
}

/// The figures of `pool`.
///
/// # Errors
/// When the database cannot answer.
pub async fn read(db: &SchedulerDb, pool: &PoolName) -> Result<LoadOfPool, StoreError> {
    let query = sqlx::query!(
        r#"select l.owner as "owner?", l.free_slots as "free_slots?", l.completed_slots as "completed_slots?",
                l.largest_cpu_millis as "cpu?", l.largest_memory_mib as "memory?", l.largest_disk_mib as "disk?",
                l.largest_iops as "iops?", l.largest_ports as "ports?", l.lacks::text as "lacks?",
                l.lacks_by_driver::text as "lacks_by_driver?", l.drivers as "drivers?",
                l.total_cpu_millis as "all_cpu?", l.total_memory_mib as "all_memory?", l.total_disk_mib as "all_disk?",
                l.total_iops as "all_iops?", l.total_ports as "all_ports?", q.slots as "queued!"
            from (select coalesce(sum(t.slots), 0)::bigint as slots from task t
                where t.pool = $1 and t.state = 'queued') q
            left join pool_load l on l.pool = $1 and l.reported_at > clock_timestamp() - interval '3 seconds'
            limit 1000"#,
        pool.as_str()
    );
    let rows = on_own!(db.dispatch(), "load.read", query.fetch_all);
    let queued_slots = rows.first().map_or(0, |row| row.queued.unsigned_abs());
    let loads = rows.into_iter().filter_map(|row| {
        let size = |n: Option<i32>| n.unwrap_or(0).unsigned_abs();
        Some(OwnerLoad {
            owner: NodeId(row.owner?),
            free_slots: row.free_slots?.unsigned_abs(),
            completed_slots: row.completed_slots?.unsigned_abs(),
            largest: Resources::from_dimensions(
                [row.cpu, row.memory, row.disk, row.iops, row.ports].map(size),
            ),
            total: Resources::from_dimensions(
                [row.all_cpu, row.all_memory, row.all_disk, row.all_iops, row.all_ports]
                    .map(|n| u32::try_from(n.unwrap_or(0)).unwrap_or(u32::MAX)),
            ),
            lacks: of_json(row.lacks.as_deref().unwrap_or("[]"), row.lacks_by_driver.as_deref()),
            drivers: of_column(row.drivers.as_ref()),
        })
    });
    Ok(LoadOfPool { owners: loads.collect(), queued_slots })
}

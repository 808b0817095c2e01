//! A resource manager tells what it has to give.

use super::lacks::to_json;
use crate::StoreError;
use crate::connect::RmDb;
use crate::drivers::to_text;
use crate::statement::named;
use domain::id::{NodeId, PoolName};
use domain::placement::Lacks;
use domain::resources::Resources;
use domain::task::DriverSet;
use domain::time::millis;
use runtime::clock::Instant;

/// One pool at one resource manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolReport {
    /// Which pool.
    pub pool: PoolName,
    /// Room for basic tasks now.
    pub free_slots: u64,
    /// Slots given back since the process started.
    pub completed_slots: u64,
    /// Per dimension the most any of its executors has, used or not.
    pub largest: Resources,
    /// Per dimension the most any of its executors has free now; of ports, in one block.
    pub free: Resources,
    /// Per dimension all that its executors have, used or not.
    pub total: Resources,
    /// Sizes that found no room and still fit none of its executors.
    pub lacks: Lacks,
    /// Drivers of its executors that accept work.
    pub drivers: DriverSet,
    /// When it last placed a task of the pool; before that, when it started.
    pub last_placed: Instant,
}

/// Replaces the figures of `owner`.
///
/// # Errors
/// When the database cannot answer.
pub async fn report(db: &RmDb, owner: NodeId, pools: &[PoolReport]) -> Result<(), StoreError> {
    let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let names: Vec<String> = pools.iter().map(|p| p.pool.to_string()).collect();
    let free: Vec<i64> = pools.iter().map(|p| signed(p.free_slots)).collect();
    let completed: Vec<i64> = pools.iter().map(|p| signed(p.completed_slots)).collect();
    let largest: [Vec<i32>; 5] = std::array::from_fn(|d| {
        pools.iter().map(|p| i32::try_from(p.largest.dimensions()[d]).unwrap_or(i32::MAX)).collect()
    });
    let total: [Vec<i64>; 5] =
        std::array::from_fn(|d| pools.iter().map(|p| i64::from(p.total.dimensions()[d])).collect());
    let placed_ago: Vec<i64> = pools.iter().map(|p| millis(p.last_placed.elapsed())).collect();
    let most_free: [Vec<i32>; 5] = std::array::from_fn(|d| {
        pools.iter().map(|p| i32::try_from(p.free.dimensions()[d]).unwrap_or(i32::MAX)).collect()
    });
    let (lacks, by_driver): (Vec<String>, Vec<String>) =
        pools.iter().map(|p| to_json(&p.lacks)).unzip();
    let drivers: Vec<Option<String>> = pools.iter().map(|p| to_text(&p.drivers)).collect();
    let query = sqlx::query!(
        "insert into pool_load as l (owner, pool, free_slots, completed_slots, largest_cpu_millis, largest_memory_mib,
                largest_disk_mib, largest_iops, largest_ports, lacks, total_cpu_millis, total_memory_mib, total_disk_mib, total_iops,
                total_ports, free_cpu_millis, free_memory_mib, free_disk_mib, free_iops, free_ports, last_placed_at, drivers, lacks_by_driver, reported_at)
            select $1, i.pool, i.free, i.completed, i.cpu, i.memory, i.disk, i.iops, i.ports, i.lacks::jsonb, i.all_cpu,
                i.all_memory, i.all_disk, i.all_iops, i.all_ports, i.free_cpu, i.free_memory, i.free_disk, i.free_iops,
                i.free_ports, clock_timestamp() - i.placed_ago_ms * interval '1 millisecond',
                string_to_array(i.drivers, ','), i.by_driver::jsonb, clock_timestamp()
            from unnest($2::text[], $3::bigint[], $4::bigint[], $5::integer[], $6::integer[], $7::integer[],
                $8::integer[], $9::integer[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[],
                $15::bigint[], $16::integer[], $17::integer[], $18::integer[], $19::integer[], $20::integer[], $21::bigint[],
                $22::text[], $23::text[])
                as i(pool, free, completed, cpu, memory, disk, iops, ports, lacks, all_cpu, all_memory, all_disk, all_iops, all_ports,
                    free_cpu, free_memory, free_disk, free_iops, free_ports, placed_ago_ms, drivers, by_driver)
            on conflict (owner, pool) do update set free_slots = excluded.free_slots,
                completed_slots = excluded.completed_slots, largest_cpu_millis = excluded.largest_cpu_millis,
                largest_memory_mib = excluded.largest_memory_mib, largest_disk_mib = excluded.largest_disk_mib,
                largest_iops = excluded.largest_iops, largest_ports = excluded.largest_ports, lacks = excluded.lacks,
                total_cpu_millis = excluded.total_cpu_millis, total_memory_mib = excluded.total_memory_mib,
                total_disk_mib = excluded.total_disk_mib, total_iops = excluded.total_iops, total_ports = excluded.total_ports,
                free_cpu_millis = excluded.free_cpu_millis, free_memory_mib = excluded.free_memory_mib,
                free_disk_mib = excluded.free_disk_mib, free_iops = excluded.free_iops, free_ports = excluded.free_ports,
                last_placed_at = excluded.last_placed_at, drivers = excluded.drivers,
                lacks_by_driver = excluded.lacks_by_driver, reported_at = excluded.reported_at",
        owner.uuid(),
        &names,
        &free,
        &completed,
        &largest[0],
        &largest[1],
        &largest[2],
        &largest[3],
        &largest[4],
        &lacks,
        &total[0],
        &total[1],
        &total[2],
        &total[3],
        &total[4],
        &most_free[0],
        &most_free[1],
        &most_free[2],
        &most_free[3],
        &most_free[4],
        &placed_ago,
        &drivers as &[Option<String>],
        &by_driver
    );
    named("load.report", query.execute(db.pool())).await?;
    Ok(())
}

/// Takes the figures of `owner` back, on shutdown.
///
/// # Errors
/// When the database cannot answer; then they count as too old after a few seconds.
pub async fn forget(db: &RmDb, owner: NodeId) -> Result<(), StoreError> {
    let query = sqlx::query!("delete from pool_load where owner = $1", owner.uuid());
    named("load.forget", query.execute(db.pool())).await.map(|_| ())
}

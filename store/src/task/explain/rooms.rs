//! What room a pool has, as its resource managers tell it to the batcher.

use crate::StoreError;
use crate::drivers::of_column;
use crate::load::of_json;
use crate::statement::patient;
use domain::explain::{Room, Rooms};
use domain::id::PoolName;
use domain::resources::Resources;
use sqlx::PgConnection;

/// Figures of the last 3 seconds for `pool`.
pub(super) async fn read(tx: &mut PgConnection, pool: &PoolName) -> Result<Rooms, StoreError> {
    let query = sqlx::query!(
        r#"select l.free_slots, l.largest_cpu_millis as cpu, l.largest_memory_mib as memory, l.largest_disk_mib as disk,
                l.largest_iops as iops, l.largest_ports as ports,
                l.free_cpu_millis as free_cpu, l.free_memory_mib as free_memory, l.free_disk_mib as free_disk,
                l.free_iops, l.free_ports, l.lacks::text as "lacks!", l.lacks_by_driver::text as by_driver, l.drivers
            from pool_load l
            where l.pool = $1 and l.reported_at > clock_timestamp() - interval '3 seconds'
            order by l.owner limit 1000"#,
        pool.as_str()
    );
    let rows = patient("task.explain_rooms", query.fetch_all(tx)).await?;
    let room = rows.into_iter().map(|row| Room {
        free_slots: row.free_slots.unsigned_abs(),
        largest: Resources::from_dimensions(
            [row.cpu, row.memory, row.disk, row.iops, row.ports].map(i32::unsigned_abs),
        ),
        free: of_all([row.free_cpu, row.free_memory, row.free_disk, row.free_iops, row.free_ports]),
        lacks: of_json(&row.lacks, row.by_driver.as_deref()),
        drivers: of_column(row.drivers.as_ref()),
    });
    Ok(Rooms(room.collect()))
}

/// `None` where a resource manager of an earlier release has told nothing of it.
fn of_all(free: [Option<i32>; 5]) -> Option<Resources> {
    let known = free.iter().all(Option::is_some);
    known.then(|| Resources::from_dimensions(free.map(|n| n.unwrap_or(0).unsigned_abs())))
}

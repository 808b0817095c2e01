//! What room a pool has, as its resource managers tell it to the batcher.

use crate::StoreError;
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
                l.largest_iops as iops, l.largest_ports as ports, l.lacks::text as "lacks!"
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
        lacks: of_json(&row.lacks),
    });
    Ok(Rooms(room.collect()))
}

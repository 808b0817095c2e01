//! What a batcher that takes over goes on from.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::own::on_own;
use domain::fairness::NameKey;
use domain::id::{PoolName, TaskId, TenantId};
use domain::resources::Resources;
use domain::time::Timestamp;
use std::time::Duration;

/// Attempts that are read at a takeover, at most; of more the oldest.
const IN_FLIGHT: i64 = 20_000;

/// An attempt that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InFlight {
    /// The tenant.
    pub tenant: TenantId,
    /// Which task.
    pub task: TaskId,
    /// Since when.
    pub since: Timestamp,
    /// What it has.
    pub resources: Resources,
    /// How long it may run.
    pub cap: Duration,
    /// What it is called.
    pub name: NameKey,
}

/// How far ahead tenants stood in `pool` a minute ago or later.
///
/// # Errors
/// When the database cannot answer.
pub async fn last(db: &SchedulerDb, pool: &PoolName) -> Result<Vec<(TenantId, f64)>, StoreError> {
    let query = sqlx::query!(
        "select tenant_id, ahead from tenant_turn where pool = $1 and at > clock_timestamp() - interval '1 minute'",
        pool.as_str()
    );
    let rows = on_own!(db.dispatch(), "turn.last", query.fetch_all);
    Ok(rows.into_iter().map(|row| (TenantId(row.tenant_id), row.ahead)).collect())
}

/// What runs in `pool`.
///
/// # Errors
/// When the database cannot answer.
pub async fn in_flight(db: &SchedulerDb, pool: &PoolName) -> Result<Vec<InFlight>, StoreError> {
    let query = sqlx::query!(
        r#"select tenant_id, id, placed_at as "placed_at!", cpu_millis, memory_mib, disk_mib, iops, ports, cap_ms, name_key
            from task where session_id is not null and wake_at is not null and pool = $1
            order by placed_at limit $2"#,
        pool.as_str(),
        IN_FLIGHT
    );
    let rows = on_own!(db.dispatch(), "turn.in_flight", query.fetch_all);
    Ok(rows
        .into_iter()
        .map(|row| InFlight {
            tenant: TenantId(row.tenant_id),
            task: TaskId(row.id),
            since: row.placed_at,
            resources: Resources::from_dimensions(
                [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports]
                    .map(i32::unsigned_abs),
            ),
            cap: Duration::from_millis(row.cap_ms.unsigned_abs()),
            name: NameKey(row.name_key.cast_unsigned()),
        })
        .collect())
}

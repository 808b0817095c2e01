//! The executors that are connected, for operators: one session each.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::{ExecutorId, PoolName, SessionId};
use domain::resources::Resources;
use domain::time::Timestamp;
use std::time::Duration;

/// A page is read within this: it holds one of the few connections of operators.
const READ_WITHIN: Duration = Duration::from_secs(10);

/// An executor that is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectedExecutor {
    /// Its name.
    pub executor: ExecutorId,
    /// Its session: from its start to its end.
    pub session: SessionId,
    /// Its pool.
    pub pool: PoolName,
    /// It finishes what runs and wants no more.
    pub draining: bool,
    /// Version of its program.
    pub version: String,
    /// When the session began.
    pub started_at: Timestamp,
    /// When the session ends unless a heartbeat renews it.
    pub expires_at: Timestamp,
    /// Since when it gets nothing but probes.
    pub quarantined_at: Option<Timestamp>,
    /// What it has.
    pub capacity: Resources,
    /// What its live leases hold of that.
    pub granted: Resources,
    /// Number of its live leases.
    pub running: u64,
}

/// Where a page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutorPosition {
    /// Name of the last executor.
    pub executor: ExecutorId,
    /// When its session began. Not its id, with which the session could be taken over.
    pub started_at: Timestamp,
}

/// The connected executors by name, of one pool where one is named; at most `limit`, after `after`.
///
/// # Errors
/// [`StoreError::Timeout`] when it takes too long; when the database cannot answer.
pub async fn list(
    db: &AdminDb,
    pool: Option<&PoolName>,
    after: Option<&ExecutorPosition>,
    limit: u32,
) -> Result<Vec<ConnectedExecutor>, StoreError> {
    let mut tx = db.begin_within(READ_WITHIN).await?;
    let query = sqlx::query!(
        r#"select session_id as "session!", executor_id as "executor!", pool as "pool!", state as "state!", version as "version!",
                started_at as "started_at!", expires_at as "expires_at!", quarantined_at, cpu_millis as "cpu_millis!",
                memory_mib as "memory_mib!", disk_mib as "disk_mib!", iops as "iops!", ports as "ports!", running as "running!",
                cpu_millis_granted as "cpu_millis_granted!", memory_mib_granted as "memory_mib_granted!",
                disk_mib_granted as "disk_mib_granted!", iops_granted as "iops_granted!", ports_granted as "ports_granted!"
            from berth_executors($1, $2, $3, $4)"#,
        pool.map(PoolName::as_str),
        after.map(|after| after.executor.as_str()),
        after.map(|after| after.started_at),
        i32::try_from(limit).unwrap_or(i32::MAX)
    );
    let rows = named("session.list", query.fetch_all(&mut *tx)).await?;
    let executors = rows.into_iter().map(|row| {
        let malformed = |what: &'static str, value: &str| StoreError::Malformed {
            what,
            row: SessionId(row.session).to_string(),
            value: value.to_owned(),
        };
        Ok(ConnectedExecutor {
            executor: row.executor.parse().map_err(|_| malformed("executor", &row.executor))?,
            session: SessionId(row.session),
            pool: row.pool.parse().map_err(|_| malformed("pool", &row.pool))?,
            draining: row.state == "draining",
            version: row.version,
            started_at: row.started_at,
            expires_at: row.expires_at,
            quarantined_at: row.quarantined_at,
            capacity: Resources {
                cpu_millis: row.cpu_millis.unsigned_abs(),
                memory_mib: row.memory_mib.unsigned_abs(),
                disk_mib: row.disk_mib.unsigned_abs(),
                iops: row.iops.unsigned_abs(),
                ports: row.ports.unsigned_abs(),
            },
            granted: Resources {
                cpu_millis: sum(row.cpu_millis_granted),
                memory_mib: sum(row.memory_mib_granted),
                disk_mib: sum(row.disk_mib_granted),
                iops: sum(row.iops_granted),
                ports: sum(row.ports_granted),
            },
            running: row.running.unsigned_abs(),
        })
    });
    executors.collect()
}

/// What is granted never exceeds a capacity, which has 32 bits.
fn sum(granted: i64) -> u32 {
    u32::try_from(granted).unwrap_or(u32::MAX)
}

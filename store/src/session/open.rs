//! Opens a session, or adopts one that another resource manager (or an earlier stream) owned.
//!
//! Adoption raises the epoch and commits before the live leases are read: from then on no claim
//! under the old epoch can succeed, so what is read is all there is. A session that was draining stays so.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::{named, repeated};
use domain::id::{ExecutorId, NodeId, PoolName, SessionId};
use domain::resources::Resources;
use domain::time::millis;
use std::time::Duration;

/// What an executor says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// This boot.
    pub id: SessionId,
    /// Its configured name.
    pub executor: ExecutorId,
    /// Its pool.
    pub pool: PoolName,
    /// All it has.
    pub capacity: Resources,
    /// First of its ports; `capacity.ports` of them.
    pub port_first: u32,
    /// Its version.
    pub version: String,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// Owned now, under this epoch; `adopted` where it existed before.
    Owned {
        /// The owner's epoch.
        epoch: i64,
        /// True where it existed before.
        adopted: bool,
    },
    /// It has lapsed or was fenced, and cannot be opened again.
    Over,
}

/// Makes `owner` the owner of the session for `term`.
///
/// # Errors
/// When the database cannot answer.
pub async fn open_or_adopt(
    db: &RmDb,
    session: &NewSession,
    owner: NodeId,
    term: Duration,
) -> Result<Opened, StoreError> {
    repeated(|| async {
        if let Some(epoch) = adopt(db, session.id, owner, term).await? {
            return Ok(Opened::Owned { epoch, adopted: true });
        }
        if open(db, session, owner, term).await? {
            return Ok(Opened::Owned { epoch: 1, adopted: false });
        }
        // It exists: it is over, or another stream of the same executor has opened it just now.
        let adopted = adopt(db, session.id, owner, term).await?;
        Ok(adopted.map_or(Opened::Over, |epoch| Opened::Owned { epoch, adopted: true }))
    })
    .await
}

async fn adopt(
    db: &RmDb,
    id: SessionId,
    owner: NodeId,
    term: Duration,
) -> Result<Option<i64>, StoreError> {
    let query = sqlx::query_scalar!(
        "update executor_session
            set owner = $2, owner_epoch = owner_epoch + 1,
                expires_at = clock_timestamp() + $3 * interval '1 millisecond'
            where id = $1 and state <> 'over' and expires_at > clock_timestamp()
            returning owner_epoch",
        id.uuid(),
        owner.uuid(),
        millis(term) as f64
    );
    named("session.adopt", query.fetch_optional(db.pool())).await
}

async fn open(
    db: &RmDb,
    session: &NewSession,
    owner: NodeId,
    term: Duration,
) -> Result<bool, StoreError> {
    let size = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    let query = sqlx::query!(
        "insert into executor_session (id, executor_id, pool, state, owner, owner_epoch, expires_at, cpu_millis,
                memory_mib, disk_mib, iops, port_first, port_count, version)
            values ($1, $2, $3, 'active', $4, 1, clock_timestamp() + $5 * interval '1 millisecond', $6, $7, $8, $9,
                $10, $11, $12)
            on conflict (id) do nothing",
        session.id.uuid(),
        session.executor.as_str(),
        session.pool.as_str(),
        owner.uuid(),
        millis(term) as f64,
        size(session.capacity.cpu_millis),
        size(session.capacity.memory_mib),
        size(session.capacity.disk_mib),
        size(session.capacity.iops),
        size(session.port_first),
        size(session.capacity.ports),
        session.version
    );
    Ok(named("session.open", query.execute(db.pool())).await?.rows_affected() == 1)
}

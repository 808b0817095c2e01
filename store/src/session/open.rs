//! Opens a session, or adopts one that another resource manager (or an earlier stream) owned.
//!
//! Adoption raises the epoch and commits before the live leases are read: from then on no claim
//! under the old epoch can succeed, so what is read is all there is. A session that was draining stays so. Whoever adopts must say of
//! itself what the session was opened with: another executor that names it finds it over.

use crate::StoreError;
use crate::connect::RmDb;
use crate::drivers::to_text;
use crate::statement::{named, repeated};
use domain::epoch::Epoch;
use domain::id::{ExecutorId, NodeId, PoolName, SessionId};
use domain::pool::MaxExecutor;
use domain::resources::{Dimension, Resources};
use domain::task::DriverSet;
use domain::time::millis;
use sqlx::PgConnection;
use std::time::Duration;

/// What an executor says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// This boot.
    pub id: SessionId,
    /// Boots before it: a name that one of these still holds is this executor's own.
    pub earlier: Vec<SessionId>,
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
    /// Its drivers.
    pub drivers: DriverSet,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// Owned now, under this epoch; `adopted` where it existed before.
    Owned {
        /// The owner's epoch.
        epoch: Epoch,
        /// True where it existed before.
        adopted: bool,
    },
    /// It has lapsed, was fenced or is another executor's, and cannot be opened again.
    Over,
    /// A session that the executor does not name holds its name, and its term runs.
    NameTaken,
    /// There is no such pool.
    NoPool,
    /// It has more than an executor of its pool may have.
    TooLarge {
        /// Of what.
        dimension: Dimension,
        /// How much it may have.
        most: u32,
    },
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
        if let Some(epoch) = adopt(db, session, owner, term).await? {
            return Ok(Opened::Owned { epoch, adopted: true });
        }
        if let Some(opened) = open(db, session, owner, term).await? {
            return Ok(opened);
        }
        // It exists: it is over, or another stream of the same executor has opened it just now.
        let adopted = adopt(db, session, owner, term).await?;
        Ok(adopted.map_or(Opened::Over, |epoch| Opened::Owned { epoch, adopted: true }))
    })
    .await
}

async fn adopt(
    db: &RmDb,
    session: &NewSession,
    owner: NodeId,
    term: Duration,
) -> Result<Option<Epoch>, StoreError> {
    let query = sqlx::query_scalar!(
        "update executor_session
            set owner = $2, owner_epoch = owner_epoch + 1,
                expires_at = clock_timestamp() + $3 * interval '1 millisecond', drivers = string_to_array($12, ',')
            where id = $1 and state <> 'over' and expires_at > clock_timestamp() and executor_id = $4 and pool = $5
                and (cpu_millis, memory_mib, disk_mib, iops, port_first, port_count) = ($6, $7, $8, $9, $10, $11)
            returning owner_epoch",
        session.id.uuid(),
        owner.uuid(),
        millis(term) as f64,
        session.executor.as_str(),
        session.pool.as_str(),
        size(session.capacity.cpu_millis),
        size(session.capacity.memory_mib),
        size(session.capacity.disk_mib),
        size(session.capacity.iops),
        size(session.port_first),
        size(session.capacity.ports),
        to_text(&session.drivers)
    );
    Ok(named("session.adopt", query.fetch_optional(db.pool())).await?.map(Epoch))
}

/// `None` where there is a session of this id.
async fn open(
    db: &RmDb,
    session: &NewSession,
    owner: NodeId,
    term: Duration,
) -> Result<Option<Opened>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    // Of two that come with one name at once the second sees the first.
    let query = sqlx::query_scalar!(
        r#"select true as "locked!" from pg_advisory_xact_lock(hashtextextended('executor ' || $1::text, 0))"#,
        session.executor.as_str()
    );
    named("session.lock_name", query.fetch_one(&mut *tx)).await?;
    if let Some(refused) = refused(&mut tx, session).await? {
        return Ok(Some(refused));
    }
    let query = sqlx::query!(
        "insert into executor_session (id, executor_id, pool, state, owner, owner_epoch, expires_at, cpu_millis,
                memory_mib, disk_mib, iops, port_first, port_count, version, drivers)
            values ($1, $2, $3, 'active', $4, 1, clock_timestamp() + $5 * interval '1 millisecond', $6, $7, $8, $9,
                $10, $11, $12, string_to_array($13, ','))
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
        session.version,
        to_text(&session.drivers)
    );
    let opened = named("session.open", query.execute(&mut *tx)).await?.rows_affected() == 1;
    named("commit", tx.commit()).await?;
    Ok(opened.then_some(Opened::Owned { epoch: Epoch(1), adopted: false }))
}

/// Why the session may not be opened, if it may not.
async fn refused(
    tx: &mut PgConnection,
    session: &NewSession,
) -> Result<Option<Opened>, StoreError> {
    let own: Vec<_> =
        session.earlier.iter().chain([&session.id]).map(|session| session.uuid()).collect();
    let query = sqlx::query!(
        r#"select p.max_executor_cpu_millis as cpu, p.max_executor_memory_mib as memory, p.max_executor_disk_mib as disk,
                p.max_executor_iops as iops, p.max_executor_ports as ports,
                exists (select from executor_session s where s.executor_id = $2 and s.ended_at is null
                    and s.expires_at > now() and s.id <> all ($3)) as "taken!"
            from pool p where p.name = $1"#,
        session.pool.as_str(),
        session.executor.as_str(),
        &own
    );
    let Some(pool) = named("session.may_open", query.fetch_optional(tx)).await? else {
        return Ok(Some(Opened::NoPool));
    };
    if pool.taken {
        return Ok(Some(Opened::NameTaken));
    }
    let limits = MaxExecutor {
        cpu_millis: pool.cpu.map(i32::unsigned_abs),
        memory_mib: pool.memory.map(i32::unsigned_abs),
        disk_mib: pool.disk.map(i32::unsigned_abs),
        iops: pool.iops.map(i32::unsigned_abs),
        ports: pool.ports.map(i32::unsigned_abs),
    };
    let passed = limits.passed_by(session.capacity);
    Ok(passed.map(|(dimension, most)| Opened::TooLarge { dimension, most }))
}

fn size(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

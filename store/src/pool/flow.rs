//! Where the tasks of a pool are, and who gets how much of it: for operators.
//!
//! The rule: it reads a bounded number of rows, whatever waits.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::{named, patient};
use domain::id::{PoolName, TenantId};
use domain::time::Timestamp;

/// Waiting tasks that are counted, at most.
pub const MOST_WAITING: u32 = 10_000;
/// Tenants that are shown, at most: those that get most.
pub const MOST_SHARES: u32 = 100;

/// Tasks in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// `ready`, `queued` or `running`.
    pub state: String,
    /// How many there are.
    pub tasks: u64,
    /// Of those that wait: whose start deadline is over; of those that run: that started after it.
    pub late: u64,
    /// The earliest start deadline among them.
    pub first_deadline: Option<Timestamp>,
}

/// What the batcher last said of a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct LastLook {
    /// Why it handed out no more: see `domain::batch::StopReason`.
    pub stopped: String,
    /// Slots that come free a second, lately.
    pub rate: f64,
    /// Slots that were free.
    pub free_slots: u64,
    /// When that was.
    pub at: Timestamp,
}

/// A tenant whose tasks wait in a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// Which.
    pub tenant: TenantId,
    /// Its name; `None` once it is purged.
    pub name: Option<String>,
    /// Its weight.
    pub weight: f64,
    /// How far its account is ahead of the virtual time, in share-seconds by weight.
    pub ahead: f64,
    /// Tenants that have their turn before it.
    pub before: u32,
    /// Its tasks that had their turn a second, lately.
    pub rate: f64,
    /// It is at its limit on running tasks.
    pub is_at_limit: bool,
    /// Its tasks that run here.
    pub running: u64,
    /// The slots that they take.
    pub slots: u64,
    /// Its newest finished tasks that had started, of all pools: 100 of the last day at most.
    pub finished: u64,
    /// Of these, those that started before their start deadline.
    pub on_time: u64,
}

/// Where the tasks of a pool are.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// When it was read.
    pub now: Timestamp,
    /// The states that any task is in.
    pub hops: Vec<Hop>,
    /// What the batcher last said; `None`: nothing lately.
    pub last_look: Option<LastLook>,
    /// The tenants that wait, those that get most first.
    pub shares: Vec<Share>,
}

/// Where the tasks of `pool` are.
///
/// # Errors
/// When the database cannot answer.
pub async fn flow(db: &AdminDb, pool: &PoolName) -> Result<Flow, StoreError> {
    let most = i32::try_from(MOST_WAITING).unwrap_or(i32::MAX);
    let query = sqlx::query!(
        r#"select state as "state!", tasks as "tasks!", late as "late!", first_deadline from berth_pool_flow($1, $2)"#,
        pool.as_str(),
        most
    );
    let hops = patient("pool.flow", query.fetch_all(db.pool())).await?;
    let hops = hops.into_iter().map(|row| Hop {
        state: row.state,
        tasks: row.tasks.unsigned_abs(),
        late: row.late.unsigned_abs(),
        first_deadline: row.first_deadline,
    });
    let hops = hops.collect();
    let (now, last_look) = last_look(db, pool).await?;
    Ok(Flow { now, hops, last_look, shares: shares(db, pool).await? })
}

async fn last_look(
    db: &AdminDb,
    pool: &PoolName,
) -> Result<(Timestamp, Option<LastLook>), StoreError> {
    let query = sqlx::query!(
        r#"select now() as "now!", l.stopped as "stopped?", l.rate as "rate?", l.free_slots as "free_slots?", l.at as "at?"
            from (select 1) one left join pool_turn l on l.pool = $1 and l.at > now() - interval '15 seconds'"#,
        pool.as_str()
    );
    let row = named("pool.last_look", query.fetch_optional(db.pool())).await?;
    let row = row.ok_or(sqlx::Error::RowNotFound)?;
    let look = (|| {
        let (stopped, rate) = (row.stopped?, row.rate?);
        Some(LastLook { stopped, rate, free_slots: row.free_slots?.unsigned_abs(), at: row.at? })
    })();
    Ok((row.now, look))
}

async fn shares(db: &AdminDb, pool: &PoolName) -> Result<Vec<Share>, StoreError> {
    let most = i32::try_from(MOST_SHARES).unwrap_or(i32::MAX);
    let query = sqlx::query!(
        r#"select tenant_id as "tenant_id!", name, weight as "weight!", ahead as "ahead!", before as "before!", rate as "rate!",
                held_by, running as "running!", slots as "slots!", finished as "finished!", on_time as "on_time!"
            from berth_pool_shares($1, $2)"#,
        pool.as_str(),
        most
    );
    let rows = patient("pool.shares", query.fetch_all(db.pool())).await?;
    let share = rows.into_iter().map(|row| Share {
        tenant: TenantId(row.tenant_id),
        name: row.name,
        weight: row.weight,
        ahead: row.ahead,
        before: row.before.unsigned_abs(),
        rate: row.rate,
        is_at_limit: row.held_by.is_some(),
        running: row.running.unsigned_abs(),
        slots: row.slots.unsigned_abs(),
        finished: row.finished.unsigned_abs(),
        on_time: row.on_time.unsigned_abs(),
    });
    Ok(share.collect())
}

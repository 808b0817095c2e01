//! What was used, attempt by attempt and what was stored day by day, for a billing provider: each once, in an order that a reader can go on in.
//!
//! The order is that of the transactions that wrote them, and it ends where the roll-up has counted: before the oldest transaction
//! that is open. So nothing appears behind a place that was read, however late it commits. Attempts of releases without prices are not in it.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::price_history::{KnownPrices, Placed, reserved_cost, used};
use crate::statement::{named, patient};
use chrono::NaiveDate;
use domain::id::{TaskId, TenantId};
use domain::price::{Currency, Micros};
use domain::resources::{Resources, Tier};
use domain::time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

/// Transactions that are read at first, and by how many times more where they have too few attempts.
const FIRST_SPAN: i64 = 10_000;
const GROWTH: i64 = 8;

/// A place in the order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsagePosition {
    /// The transaction that wrote it.
    pub txid: i64,
    /// The task.
    pub task: Uuid,
    /// The attempt's number; 0: before all of them. Of what is stored `task` is the tenant, and this the day, counted from 1970.
    pub attempt: i32,
}

/// What was used, and what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageEvent {
    /// Whose.
    pub tenant: TenantId,
    /// The tenant's name at a billing provider.
    pub customer: Option<String>,
    /// In which month it counts.
    pub at: Timestamp,
    /// Of what it costs.
    pub currency: Currency,
    /// What was used.
    pub used: Used,
}

/// What was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Used {
    /// An attempt.
    Attempt(UsedAttempt),
    /// Output, stored for a day.
    Stored {
        /// The day, UTC.
        day: NaiveDate,
        /// Bytes.
        bytes: i64,
        /// What it costs.
        cost: Micros,
    },
}

/// What an attempt used and costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedAttempt {
    /// Its task.
    pub task: TaskId,
    /// Its number, from 1.
    pub attempt: u32,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// The tier of its task; `None`: it gave resources.
    pub tier: Option<Tier>,
    /// What it held.
    pub resources: Resources,
    /// How long it is billed for, ms.
    pub usage_ms: i64,
    /// What it costs.
    pub cost: Micros,
    /// What its task costs, with the first attempt.
    pub task_cost: Micros,
    /// What the fire costs that led to it, with the first attempt.
    pub fire_cost: Micros,
}

impl UsageEvent {
    /// All that it costs.
    #[must_use]
    pub fn cost(&self) -> Micros {
        match &self.used {
            Used::Attempt(of) => of.cost + of.task_cost + of.fire_cost,
            Used::Stored { cost, .. } => *cost,
        }
    }
}

struct AttemptRow {
    tenant_id: Uuid,
    customer: Option<String>,
    task_id: Uuid,
    attempt: i32,
    txid: i64,
    tier: Option<String>,
    cpu_millis: i32,
    memory_mib: i32,
    disk_mib: i32,
    iops: i32,
    ports: i32,
    placed_at: Timestamp,
    ended_at: Timestamp,
    usage_ms: i64,
    tolerance_ms: i64,
    flexible: bool,
    charged: bool,
    cost: Option<i64>,
    task_cost: Option<i64>,
    fire_cost: Option<i64>,
    price_book: Option<String>,
    is_fired: bool,
}

struct StoredRow {
    tenant_id: Uuid,
    customer: Option<String>,
    day: NaiveDate,
    at: Timestamp,
    bytes: i64,
    txid: i64,
}

enum EventRow {
    Attempt(AttemptRow),
    Stored(StoredRow),
}

impl EventRow {
    fn place(&self) -> UsagePosition {
        match self {
            Self::Attempt(row) => {
                UsagePosition { txid: row.txid, task: row.task_id, attempt: row.attempt }
            }
            Self::Stored(row) => UsagePosition {
                txid: row.txid,
                task: row.tenant_id,
                // Days from 1970.
                attempt: row.day.to_epoch_days(),
            },
        }
    }

    const fn tenant(&self) -> TenantId {
        match self {
            Self::Attempt(row) => TenantId(row.tenant_id),
            Self::Stored(row) => TenantId(row.tenant_id),
        }
    }
}

/// What was used after `after` and has a price, at most `limit`: attempts that are charged, or whose task or fire is, and stored output; and where to go on. Fewer: there are no
/// more. `None`: the place is of another database's order, as after a restore.
///
/// # Errors
/// When the database cannot answer.
pub async fn read(
    db: &AdminDb,
    after: UsagePosition,
    limit: usize,
) -> Result<Option<(Vec<UsageEvent>, UsagePosition)>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some(counted) = prepare(&mut tx).await? else {
        return Ok(Some((Vec::new(), after)));
    };
    if after.txid > counted {
        return Ok(None);
    }
    let mut prices = KnownPrices::read(&mut tx).await?;
    let (mut events, mut place, mut span) = (Vec::new(), after, FIRST_SPAN);
    while place.txid < counted && events.len() < limit {
        let until = place.txid.saturating_add(span).min(counted);
        let wanted = limit - events.len();
        let rows = rows(&mut tx, place, until, wanted).await?;
        let is_full = rows.len() == wanted;
        prices.know(&mut tx, rows.iter().map(EventRow::tenant)).await?;
        for row in rows {
            place = row.place();
            events.extend(event(&prices, row));
        }
        if !is_full {
            place = UsagePosition { txid: until, ..UsagePosition::default() };
            span = span.saturating_mul(GROWTH);
        }
    }
    Ok(Some((events, place)))
}

/// Before which transaction all is counted; `None` while that of an earlier release is.
async fn prepare(tx: &mut PgConnection) -> Result<Option<i64>, StoreError> {
    // Attempts of a transaction are found by a bitmap; with the values known, each statement is planned for itself.
    let query = sqlx::query_scalar!(
        "select set_config('enable_bitmapscan', 'on', true) || set_config('enable_seqscan', 'off', true)
            || set_config('plan_cache_mode', 'force_custom_plan', true)"
    );
    named("usage_event.plan", query.fetch_one(&mut *tx)).await?;
    let query = sqlx::query_scalar!(
        r#"select c.txid as "txid!" from event_cursor c where c.consumer = 'usage' and c.seq = -1"#
    );
    named("usage_event.counted", query.fetch_optional(tx)).await
}

/// The first `limit` rows after a place, before a transaction.
async fn rows(
    tx: &mut PgConnection,
    after: UsagePosition,
    until: i64,
    limit: usize,
) -> Result<Vec<EventRow>, StoreError> {
    let attempts = attempts(&mut *tx, after, until, limit).await?;
    let stored = stored(tx, after, until, limit).await?;
    let mut rows: Vec<EventRow> = attempts.into_iter().map(EventRow::Attempt).collect();
    rows.extend(stored.into_iter().map(EventRow::Stored));
    rows.sort_unstable_by_key(EventRow::place);
    rows.truncate(limit);
    Ok(rows)
}

async fn stored(
    tx: &mut PgConnection,
    after: UsagePosition,
    until: i64,
    limit: usize,
) -> Result<Vec<StoredRow>, StoreError> {
    let query = sqlx::query_as!(
        StoredRow,
        r#"select d.tenant_id, b.customer as "customer?", d.day, d.bytes, d.txid,
                (d.day + 1)::timestamp at time zone 'UTC' - interval '1 microsecond' as "at!"
            from stored_day d
            left join tenant_billing b on b.tenant_id = d.tenant_id
            where d.txid >= $1 and d.txid < $2 and (d.txid, d.tenant_id, d.day - date '1970-01-01') > ($1, $3, $4)
            order by d.txid, d.tenant_id, d.day limit $5"#,
        after.txid,
        until,
        after.task,
        after.attempt,
        limit as i64
    );
    patient("usage_event.stored", query.fetch_all(tx)).await
}

async fn attempts(
    tx: &mut PgConnection,
    after: UsagePosition,
    until: i64,
    limit: usize,
) -> Result<Vec<AttemptRow>, StoreError> {
    let query = sqlx::query_as!(
        AttemptRow,
        r#"select a.tenant_id as "tenant_id!", b.customer as "customer?", a.task_id as "task_id!", a.attempt as "attempt!", a.txid as "txid!",
                a.tier::text, a.cpu_millis as "cpu_millis!", a.memory_mib as "memory_mib!", a.disk_mib as "disk_mib!", a.iops as "iops!",
                a.ports as "ports!", a.placed_at as "placed_at!", a.ended_at as "ended_at!", a.usage_ms as "usage_ms!",
                coalesce(a.tolerance_ms, s.delay_tolerance_ms, 0) as "tolerance_ms!", coalesce(a.flexible, false) as "flexible!",
                a.charged as "charged!", a.cost, a.task_cost, a.fire_cost, a.price_book,
                berth_bears_fire(a.task_id, s.schedule_id, s.rerun_of, s.run_id, r.fire_task) as "is_fired!"
            from (select o.tenant_id, o.task_id, o.attempt, o.txid, o.tier, o.cpu_millis, o.memory_mib, o.disk_mib, o.iops, o.ports,
                    o.placed_at, o.ended_at, o.usage_ms, o.tolerance_ms, o.flexible, o.charged, o.cost, o.task_cost,
                    o.fire_cost, o.price_book
                from attempt o
                where o.txid >= $1 and o.txid < $2 and (o.txid, o.task_id, o.attempt) > ($1, $3, $4) and (o.charged or o.attempt = 1)
                order by o.txid, o.task_id, o.attempt limit $5) a
            left join tenant_billing b on b.tenant_id = a.tenant_id
            left join lateral (select f.delay_tolerance_ms, f.schedule_id, f.run_id, f.rerun_of from task_spec f
                where f.id = a.task_id and f.tenant_id = a.tenant_id limit 1) s on a.attempt = 1 or a.tolerance_ms is null
            left join lateral (select w.fire_task from workflow_run w
                where w.tenant_id = a.tenant_id and w.id = s.run_id limit 1) r on s.run_id is not null
            order by a.txid, a.task_id, a.attempt"#,
        after.txid,
        until,
        after.task,
        after.attempt,
        limit as i64
    );
    patient("usage_event.read", query.fetch_all(tx)).await
}

/// `None`: no prices held, or nothing of it is billed.
fn event(prices: &KnownPrices, row: EventRow) -> Option<UsageEvent> {
    match row {
        EventRow::Attempt(row) => of_attempt(prices, row),
        EventRow::Stored(row) => of_stored(prices, row),
    }
}

fn of_stored(prices: &KnownPrices, row: StoredRow) -> Option<UsageEvent> {
    let tenant = TenantId(row.tenant_id);
    let (currency, cost) = prices.stored_day(tenant, row.at, row.bytes.unsigned_abs())?;
    let used = Used::Stored { day: row.day, bytes: row.bytes, cost };
    let is_billed = cost != Micros(0);
    is_billed.then_some(UsageEvent { tenant, customer: row.customer, at: row.at, currency, used })
}

fn of_attempt(prices: &KnownPrices, row: AttemptRow) -> Option<UsageEvent> {
    let used = used(
        [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports],
        row.tier,
        (row.usage_ms, row.tolerance_ms),
        row.flexible,
    );
    let (tenant, attempt) = (TenantId(row.tenant_id), row.attempt.unsigned_abs());
    let placed = Placed {
        tenant,
        at: row.placed_at,
        number: attempt,
        is_fired: row.is_fired,
        reserved: reserved_cost(row.cost, (row.task_cost, row.fire_cost), row.price_book),
    };
    let cost = prices.cost(placed, &used)?;
    // A first attempt that is not charged bears what its task and its fire cost.
    let is_billed = row.charged || cost.task + cost.fire != Micros(0);
    is_billed.then_some(UsageEvent {
        tenant,
        customer: row.customer,
        at: row.ended_at,
        currency: cost.currency,
        used: Used::Attempt(UsedAttempt {
            task: TaskId(row.task_id),
            attempt,
            placed_at: row.placed_at,
            tier: used.tier,
            resources: used.resources,
            usage_ms: row.usage_ms,
            cost: cost.attempt,
            task_cost: cost.task,
            fire_cost: cost.fire,
        }),
    })
}

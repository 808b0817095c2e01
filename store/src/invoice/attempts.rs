//! The attempts that a line of an invoice is the sum of, each with its exact cost.
//!
//! Read day by day, as they are stored, and within a day by task: a page costs the same however many a month has. Attempts are kept for
//! `limits.history_retention_days`; what is no longer there is missing here, and not in the invoice.

use super::record::InvoiceRecord;
use crate::connect::ApiDb;
use crate::price_history::{KnownPrices, Placed, reserved_cost, used};
use crate::scoped::Scoped;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use chrono::{Days, NaiveDate, NaiveTime};
use domain::id::{TaskId, TenantId};
use domain::invoice::{InvoiceLine, LineKind};
use domain::price::Micros;
use domain::time::Timestamp;
use uuid::Uuid;

/// An attempt of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineAttempt {
    /// Its task.
    pub task: TaskId,
    /// Its number, from 1.
    pub attempt: u32,
    /// When it was placed: which prices hold.
    pub placed_at: Timestamp,
    /// When it ended: in which month it counts.
    pub ended_at: Timestamp,
    /// How long it is billed for, ms.
    pub usage_ms: i64,
    /// What it adds to the line.
    pub cost: Micros,
}

/// The place of an attempt in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptPosition {
    /// The day it ended on, UTC.
    pub day: NaiveDate,
    /// Its task.
    pub task: Uuid,
    /// Its number.
    pub attempt: i32,
}

/// A page of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptPage {
    /// The attempts, each with its place.
    pub attempts: Vec<(LineAttempt, AttemptPosition)>,
    /// Whether there may be others after it.
    pub more: bool,
}

struct AttemptRow {
    task_id: Uuid,
    attempt: i32,
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
    cost: Option<i64>,
    task_cost: Option<i64>,
    fire_cost: Option<i64>,
    price_book: Option<String>,
    is_fired: bool,
}

fn start_of(day: NaiveDate) -> Timestamp {
    day.and_time(NaiveTime::MIN).and_utc()
}

/// The attempts of a line after `after`, at most `limit`; none of a line that attempts do not make.
///
/// # Errors
/// When the database cannot answer.
pub async fn attempts(
    db: &ApiDb,
    scope: &TenantScope,
    (invoice, line): (&InvoiceRecord, &InvoiceLine),
    after: Option<AttemptPosition>,
    limit: usize,
) -> Result<AttemptPage, StoreError> {
    let mut page = AttemptPage::default();
    if !matches!(line.kind, LineKind::Attempts | LineKind::Tasks | LineKind::Fires) {
        return Ok(page);
    }
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let mut prices = KnownPrices::read(&mut tx).await?;
    prices.know(&mut tx, std::iter::once(scope.tenant())).await?;
    let first = invoice.period.starts_at.date_naive();
    let mut from = after.unwrap_or(AttemptPosition { day: first, task: Uuid::nil(), attempt: 0 });
    while start_of(from.day) < invoice.period.ends_at {
        let rows = of_day(&mut tx, (scope.tenant(), invoice, line), from, limit + 1).await?;
        let is_last = rows.len() <= limit;
        for row in rows {
            let place = AttemptPosition { day: from.day, task: row.task_id, attempt: row.attempt };
            let Some(attempt) = priced(&prices, scope.tenant(), invoice, (line.kind, row)) else {
                continue;
            };
            if page.attempts.len() == limit {
                page.more = true;
                return Ok(page);
            }
            page.attempts.push((attempt, place));
            from = place;
        }
        if is_last {
            let day = from.day.checked_add_days(Days::new(1)).unwrap_or(NaiveDate::MAX);
            from = AttemptPosition { day, task: Uuid::nil(), attempt: 0 };
        }
    }
    Ok(page)
}

/// An attempt, where its prices are in the invoice's currency.
fn priced(
    prices: &KnownPrices,
    tenant: TenantId,
    invoice: &InvoiceRecord,
    (kind, row): (LineKind, AttemptRow),
) -> Option<LineAttempt> {
    let used = used(
        [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports],
        row.tier,
        (row.usage_ms, row.tolerance_ms),
        row.flexible,
    );
    let attempt = row.attempt.unsigned_abs();
    let placed = Placed {
        tenant,
        at: row.placed_at,
        number: attempt,
        is_fired: row.is_fired,
        reserved: reserved_cost(row.cost, (row.task_cost, row.fire_cost), row.price_book),
    };
    let cost = prices.cost(placed, &used)?;
    (cost.currency == invoice.currency).then_some(LineAttempt {
        task: TaskId(row.task_id),
        attempt,
        placed_at: row.placed_at,
        ended_at: row.ended_at,
        usage_ms: row.usage_ms,
        cost: match kind {
            LineKind::Tasks => cost.task,
            LineKind::Fires => cost.fire,
            _ => cost.attempt,
        },
    })
}

/// The attempts of a line that ended on a day after one of its tasks.
async fn of_day(
    tx: &mut Scoped,
    (tenant, invoice, line): (TenantId, &InvoiceRecord, &InvoiceLine),
    after: AttemptPosition,
    limit: usize,
) -> Result<Vec<AttemptRow>, StoreError> {
    let next = after.day.checked_add_days(Days::new(1)).unwrap_or(NaiveDate::MAX);
    let query = sqlx::query_as!(
        AttemptRow,
        r#"select a.task_id, a.attempt, a.tier::text, a.cpu_millis, a.memory_mib, a.disk_mib, a.iops, a.ports, a.placed_at, a.ended_at,
                a.usage_ms, coalesce(a.tolerance_ms, s.delay_tolerance_ms, 0) as "tolerance_ms!", coalesce(a.flexible, false) as "flexible!",
                a.cost, a.task_cost, a.fire_cost, a.price_book, f.is_fired as "is_fired!"
            from attempt a
            left join lateral (select f.delay_tolerance_ms, f.schedule_id, f.run_id, f.rerun_of from task_spec f
                where f.id = a.task_id and f.tenant_id = a.tenant_id limit 1) s on a.attempt = 1 or a.tolerance_ms is null
            left join lateral (select w.fire_task from workflow_run w
                where w.tenant_id = a.tenant_id and w.id = s.run_id limit 1) r on s.run_id is not null
            cross join lateral (select berth_bears_fire(a.task_id, s.schedule_id, s.rerun_of, s.run_id, r.fire_task) as is_fired) f
            where a.tenant_id = $1 and a.ended_at >= $2 and a.ended_at < $3 and (a.task_id, a.attempt) > ($4, $5)
                and case $6::text when 'tasks' then a.attempt = 1 when 'fires' then a.attempt = 1 and f.is_fired
                    else a.charged and a.tier::text is not distinct from $7 end
            order by a.task_id, a.attempt limit $8"#,
        tenant.uuid(),
        start_of(after.day).max(invoice.period.starts_at),
        start_of(next).min(invoice.period.ends_at),
        after.task,
        after.attempt,
        line.kind.as_str(),
        line.tier,
        limit as i64
    );
    patient("invoice.attempts", query.fetch_all(&mut **tx)).await
}

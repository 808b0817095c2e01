//! From the attempts, as they come.

use super::asked::Asked;
use crate::StoreError;
use crate::price_history::{self, Placed, reserved_cost};
use crate::statement::patient;
use chrono::TimeDelta;
use domain::id::TenantId;
use domain::price::{ComparedAttempt, CostBefore, PriceComparison};
use domain::time::Timestamp;
use futures::TryStreamExt;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Attempts that are priced at once.
const CHUNK: usize = 5000;

struct AttemptRow {
    tenant_id: Uuid,
    attempt: i32,
    charged: bool,
    tier: Option<String>,
    cpu_millis: i32,
    memory_mib: i32,
    disk_mib: i32,
    iops: i32,
    ports: i32,
    placed_at: Timestamp,
    usage_ms: i64,
    tolerance_ms: i64,
    flexible: bool,
    cost: Option<i64>,
    task_cost: Option<i64>,
    fire_cost: Option<i64>,
    price_book: Option<String>,
    is_fired: bool,
}

pub(super) type UsedByTenant = BTreeMap<Uuid, PriceComparison>;

/// Adds what was used in a range, day by day; `false`: `is_over` said that it takes too long.
pub(super) async fn compare(
    tx: &mut PgConnection,
    of: &Asked<'_>,
    [from, until]: [Timestamp; 2],
    (used, is_over): (&mut UsedByTenant, &impl Fn() -> bool),
) -> Result<bool, StoreError> {
    let mut day = from;
    while day < until {
        let next = (day + TimeDelta::days(1)).min(until);
        if !of_day(tx, of, [day, next], (used, is_over)).await? {
            return Ok(false);
        }
        day = next;
    }
    Ok(true)
}

async fn of_day(
    tx: &mut PgConnection,
    of: &Asked<'_>,
    [from, until]: [Timestamp; 2],
    (used, is_over): (&mut UsedByTenant, &impl Fn() -> bool),
) -> Result<bool, StoreError> {
    let query = sqlx::query_as!(
        AttemptRow,
        r#"select a.tenant_id as "tenant_id!", a.attempt as "attempt!", a.charged as "charged!", a.tier::text, a.cpu_millis as "cpu_millis!",
                a.memory_mib as "memory_mib!", a.disk_mib as "disk_mib!", a.iops as "iops!", a.ports as "ports!",
                a.placed_at as "placed_at!", a.usage_ms as "usage_ms!",
                coalesce(a.tolerance_ms, s.delay_tolerance_ms, 0) as "tolerance_ms!", coalesce(a.flexible, false) as "flexible!",
                a.cost, a.task_cost, a.fire_cost, a.price_book,
                berth_bears_fire(a.task_id, s.schedule_id, s.rerun_of, s.run_id, r.fire_task) as "is_fired!"
            from attempt a
            left join lateral (select f.delay_tolerance_ms, f.schedule_id, f.run_id, f.rerun_of from task_spec f
                where f.id = a.task_id and f.tenant_id = a.tenant_id limit 1) s on a.attempt = 1 or a.tolerance_ms is null
            left join lateral (select w.fire_task from workflow_run w
                where w.tenant_id = a.tenant_id and w.id = s.run_id limit 1) r on s.run_id is not null
            where a.ended_at >= $1 and a.ended_at < $2 and a.tenant_id = any ($3) and (a.charged or a.attempt = 1)"#,
        from,
        until,
        of.tenants
    );
    let compared = async {
        let mut chunks = query.fetch(tx).try_chunks(CHUNK);
        while let Some(chunk) = chunks.try_next().await.map_err(|error| error.1)? {
            for row in chunk {
                add(of, used, row);
            }
            if is_over() {
                return Ok(false);
            }
        }
        Ok(true)
    };
    patient("price_dry_run.read", compared).await
}

fn add(of: &Asked<'_>, used: &mut UsedByTenant, row: AttemptRow) {
    let what = price_history::used(
        [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports],
        row.tier,
        (row.usage_ms, row.tolerance_ms),
        row.flexible,
    );
    let AttemptRow { charged, is_fired, .. } = row;
    let number = row.attempt.unsigned_abs();
    let placed = Placed {
        tenant: TenantId(row.tenant_id),
        at: row.placed_at,
        number,
        is_fired,
        reserved: reserved_cost(row.cost, (row.task_cost, row.fire_cost), row.price_book),
    };
    let cost = of.known.cost(placed, &what).filter(|cost| cost.currency == of.currency);
    let before = cost.map(|of| CostBefore { attempt: of.attempt, task: of.task, fire: of.fire });
    let attempt = ComparedAttempt { used: what, number, charged, is_fired };
    used.entry(row.tenant_id).or_default().attempt(of.prices, &attempt, before);
}

/// Adds what was stored on the days that ended in a range.
pub(super) async fn compare_stored(
    tx: &mut PgConnection,
    of: &Asked<'_>,
    [from, until]: [Timestamp; 2],
    used: &mut UsedByTenant,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        r#"select d.tenant_id, d.bytes, e.at as "at!"
            from stored_day d
            cross join lateral (select (d.day + 1)::timestamp at time zone 'UTC' - interval '1 microsecond' as at) e
            where e.at >= $1 and e.at < $2 and d.tenant_id = any ($3)"#,
        from,
        until,
        of.tenants
    );
    for row in patient("price_dry_run.stored", query.fetch_all(tx)).await? {
        let bytes = row.bytes.unsigned_abs();
        let cost = of.known.stored_day(TenantId(row.tenant_id), row.at, bytes);
        let before = cost.filter(|(currency, _)| *currency == of.currency).map(|(_, cost)| cost);
        used.entry(row.tenant_id).or_default().stored(of.prices, bytes, before);
    }
    Ok(())
}

//! What the attempts of a task cost so far, by the prices that held when they were placed.
//!
//! Read by `GET /v1/tasks/{id}?include=cost`. The rule: it is what `/v1/costs` adds up for the same attempts.

use crate::connect::ApiDb;
use crate::price_history::{KnownPrices, Placed, reserved_cost, used};
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::price::{Currency, Micros};
use futures::TryStreamExt;
use std::collections::BTreeMap;

/// Ended attempts of a task in one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskCost {
    /// `None`: no prices held, and nothing is billed.
    pub currency: Option<Currency>,
    /// How many attempts.
    pub attempts: u32,
    /// What they cost, with what the task and its fire cost for themselves.
    pub cost: Micros,
}

/// What the attempts of a task that have ended cost, by currency; none: none has ended.
///
/// # Errors
/// When the database cannot answer.
pub async fn of_task(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
) -> Result<Vec<TaskCost>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let mut prices = KnownPrices::read(&mut tx).await?;
    prices.know(&mut tx, std::iter::once(scope.tenant())).await?;
    let query = sqlx::query!(
        r#"select a.attempt as "attempt!", a.tier::text, a.cpu_millis as "cpu_millis!", a.memory_mib as "memory_mib!",
                a.disk_mib as "disk_mib!", a.iops as "iops!", a.ports as "ports!", a.placed_at as "placed_at!", a.usage_ms as "usage_ms!",
                coalesce(a.tolerance_ms, s.delay_tolerance_ms, 0) as "tolerance_ms!", coalesce(a.flexible, false) as "flexible!",
                a.cost, a.task_cost, a.fire_cost, a.price_book,
                berth_bears_fire(a.task_id, s.schedule_id, s.rerun_of, s.run_id, r.fire_task) as "is_fired!"
            from attempt a
            left join lateral (select f.delay_tolerance_ms, f.schedule_id, f.run_id, f.rerun_of from task_spec f
                where f.id = $2 and f.tenant_id = $1 limit 1) s on a.attempt = 1 or a.tolerance_ms is null
            left join lateral (select w.fire_task from workflow_run w
                where w.tenant_id = $1 and w.id = s.run_id limit 1) r on s.run_id is not null
            where a.tenant_id = $1 and a.task_id = $2"#,
        scope.tenant().uuid(),
        task.uuid()
    );
    let added = async {
        let mut sums = BTreeMap::<Option<String>, TaskCost>::new();
        let mut rows = query.fetch(&mut *tx);
        while let Some(row) = rows.try_next().await? {
            let used = used(
                [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports],
                row.tier,
                (row.usage_ms, row.tolerance_ms),
                row.flexible,
            );
            let placed = Placed {
                tenant: scope.tenant(),
                at: row.placed_at,
                number: row.attempt.unsigned_abs(),
                is_fired: row.is_fired,
                reserved: reserved_cost(row.cost, (row.task_cost, row.fire_cost), row.price_book),
            };
            let cost = prices.cost(placed, &used);
            let currency = cost.map(|cost| cost.currency);
            let none = TaskCost { currency, attempts: 0, cost: Micros(0) };
            let sum = sums.entry(currency.map(|code| code.to_string())).or_insert(none);
            sum.attempts += 1;
            if let Some(cost) = cost {
                sum.cost = sum.cost + cost.attempt + cost.task + cost.fire;
            }
        }
        Ok(sums.into_values().collect())
    };
    patient("attempt_cost.of_task", added).await
}

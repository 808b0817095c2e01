//! Reads what price books, plans and tenants were.

use crate::StoreError;
use crate::plan;
use crate::price_book;
use crate::statement::named;
use domain::id::TenantId;
use domain::price::{Currency, Micros, PriceHistory, ReservedCost, Use};
use domain::resources::Resources;
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::HashSet;

/// What prices were; of tenants those that were asked for.
pub(crate) struct KnownPrices {
    pub(crate) history: PriceHistory,
    tenants: HashSet<TenantId>,
}

/// What an attempt costs, in a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AttemptCost {
    pub(crate) currency: Currency,
    pub(crate) attempt: Micros,
    /// What its task costs, which its first attempt bears.
    pub(crate) task: Micros,
    /// What the fire costs that led to it, which the first attempt bears.
    pub(crate) fire: Micros,
}

/// Of an attempt, what says its price besides what it held.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) tenant: TenantId,
    pub(crate) at: Timestamp,
    /// Its number, from 1.
    pub(crate) number: u32,
    /// A fire led to it.
    pub(crate) is_fired: bool,
    /// What its task's reservation says.
    pub(crate) reserved: Option<ReservedCost>,
}

/// The columns of an attempt that say what it costs by its task's reservation.
pub(crate) fn reserved_cost(
    cost: Option<i64>,
    (task_cost, fire_cost): (Option<i64>, Option<i64>),
    price_book: Option<String>,
) -> Option<ReservedCost> {
    let fire = fire_cost.unwrap_or(0);
    cost.map(|cost| ReservedCost {
        book: price_book.and_then(|name| name.parse().ok()),
        attempt: Micros(cost),
        task: Micros(task_cost.unwrap_or(0) - fire),
        fire: Micros(fire),
    })
}

/// The columns of an attempt that say what it held and for how long: cpu, memory, disk, iops and ports; its tier; the billed time and
/// the tolerance, ms; whether it was flexible.
pub(crate) fn used(
    [cpu_millis, memory_mib, disk_mib, iops, ports]: [i32; 5],
    tier: Option<String>,
    (usage_ms, tolerance_ms): (i64, i64),
    flexible: bool,
) -> Use {
    Use {
        resources: Resources {
            cpu_millis: cpu_millis.unsigned_abs(),
            memory_mib: memory_mib.unsigned_abs(),
            disk_mib: disk_mib.unsigned_abs(),
            iops: iops.unsigned_abs(),
            ports: ports.unsigned_abs(),
        },
        tier: tier.and_then(|tier| tier.parse().ok()),
        ms: usage_ms.unsigned_abs(),
        tolerance_s: Some(tolerance_ms.unsigned_abs() / 1000),
        flexible,
    }
}

impl KnownPrices {
    /// All price books, and how plans were billed: both are few.
    pub(crate) async fn read(tx: &mut PgConnection) -> Result<Self, StoreError> {
        let mut history = PriceHistory::default();
        let query = sqlx::query!(r#"select name, document::text as "document!" from price_book"#);
        for row in named("price_history.price_books", query.fetch_all(&mut *tx)).await? {
            let book = price_book::book_of(&row.document)?;
            history.book(price_book::name_of(row.name)?, book);
        }
        let query = sqlx::query!("select plan, since, billing::text from plan_billing");
        for row in named("price_history.plans", query.fetch_all(tx)).await? {
            let billing = row.billing.as_deref().map(price_book::billing_of).transpose()?;
            history.plan(plan::name_of(row.plan)?, row.since, billing);
        }
        Ok(Self { history, tenants: HashSet::new() })
    }

    /// Reads which plans these tenants were on, unless that is known.
    pub(crate) async fn know(
        &mut self,
        tx: &mut PgConnection,
        tenants: impl Iterator<Item = TenantId>,
    ) -> Result<(), StoreError> {
        let new: HashSet<_> = tenants.filter(|tenant| !self.tenants.contains(tenant)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = new.iter().map(|tenant| tenant.uuid()).collect();
        let query = sqlx::query!(
            r#"select p.tenant_id as "tenant_id!", p.since as "since!", p.plan as "plan!"
                from unnest($1::uuid[]) as i(id)
                cross join lateral (select t.tenant_id, t.since, t.plan from tenant_plan t where t.tenant_id = i.id) p"#,
            &ids
        );
        for row in named("price_history.tenants", query.fetch_all(tx)).await? {
            self.history.tenant(TenantId(row.tenant_id), row.since, plan::name_of(row.plan)?);
        }
        self.tenants.extend(new);
        Ok(())
    }

    /// What an attempt of a known tenant costs; `None`: no prices held when it was placed, or its task was accepted.
    pub(crate) fn cost(&self, placed: Placed, used: &Use) -> Option<AttemptCost> {
        let Placed { tenant, at, number, is_fired, reserved } = placed;
        if let Some(ReservedCost { book, attempt, task, fire }) = reserved {
            let currency = self.history.named(&book?)?.currency;
            return Some(AttemptCost { currency, attempt, task, fire });
        }
        let (book, prices) = self.history.prices(tenant, at)?;
        let currency = self.history.named(book)?.currency;
        let (attempt, task) = (prices.cost(used), prices.task_cost(number));
        Some(AttemptCost { currency, attempt, task, fire: prices.fire_cost(number, is_fired) })
    }

    /// What so many bytes of output of a known tenant cost that were stored for the day that ends at an instant; `None`: no prices held.
    pub(crate) fn stored_day(
        &self,
        tenant: TenantId,
        at: Timestamp,
        bytes: u64,
    ) -> Option<(Currency, Micros)> {
        let (book, prices) = self.history.prices(tenant, at)?;
        Some((self.history.named(book)?.currency, prices.stored_day_cost(bytes)))
    }
}

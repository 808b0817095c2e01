//! `GET /v1/costs` and `/v1/admin/costs`: what was used, and what it costs.

use crate::{DateTime, SpendCap};
use chrono::NaiveDate;
use domain::id::TenantId;
use serde::{Deserialize, Serialize};

/// Costs in a range of days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Costs {
    /// First day.
    pub from: NaiveDate,
    /// Last day, inclusive.
    pub to: NaiveDate,
    /// What ended until then is counted; null while an earlier release's usage is being counted.
    pub counted_until: Option<DateTime>,
    /// A row for each step, group and currency with usage, in order.
    pub data: Vec<Cost>,
    /// The sums of all rows, by currency.
    pub totals: Vec<CostTotal>,
    /// The present month; null where the tenant's plan has no prices.
    pub month: Option<CostOfMonth>,
    /// The spend caps and how they stand, by name.
    #[serde(default)]
    pub caps: Vec<SpendCap>,
}

/// What one group used in one step, and what it costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cost {
    /// When the step begins.
    pub starts_at: DateTime,
    /// A tier, the id of a schedule, a workflow or the value of the label; null: none of them, or `others`.
    pub group: Option<String>,
    /// True: values of the label beyond the first 100 in a quarter of an hour.
    pub others: bool,
    /// The amounts.
    #[serde(flatten)]
    pub total: CostTotal,
}

/// What was used, and what it costs in one currency.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CostTotal {
    /// Code of ISO 4217; null: used without prices.
    pub currency: Option<String>,
    /// Attempts that ended.
    pub attempts: i64,
    /// Billed attempts.
    pub charged_attempts: i64,
    /// Tasks, each with its first attempt.
    pub tasks: i64,
    /// Fires of schedules, each with the first attempt that it led to.
    #[serde(default)]
    pub fires: i64,
    /// Billed time in ms.
    pub run_ms: i64,
    /// Sum of thousandths of a core x ms.
    pub cpu_millis_ms: i64,
    /// Sum of MiB x ms.
    pub memory_mib_ms: i64,
    /// Sum of MiB of disk x ms.
    pub disk_mib_ms: i64,
    /// Sum of disk operations a second x ms.
    pub iops_ms: i64,
    /// Sum of ports x ms.
    pub port_ms: i64,
    /// Sum of bytes of stored output x days.
    #[serde(default)]
    pub stored_byte_days: i64,
    /// What the attempts cost, micro-units: millionths of the currency's unit.
    pub attempts_cost: i64,
    /// What the tasks cost, micro-units.
    pub tasks_cost: i64,
    /// What the fires cost, micro-units.
    #[serde(default)]
    pub fires_cost: i64,
    /// What the stored output costs, micro-units.
    #[serde(default)]
    pub stored_cost: i64,
    /// All of it, micro-units.
    pub cost: i64,
}

/// What the present month comes to, UTC, in micro-units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CostOfMonth {
    /// Its first day.
    pub starts_on: NaiveDate,
    /// Code of ISO 4217.
    pub currency: String,
    /// So far.
    pub so_far: CostBill,
    /// At its end, if as much is used as in the last seven days.
    pub forecast: CostBill,
}

/// What a month comes to, in micro-units. `total` is the sum of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CostBill {
    /// All that was used, at its price.
    pub charges: i64,
    /// What the plan includes, not positive.
    pub included: i64,
    /// The discount for volume, not positive.
    pub volume: i64,
    /// What is missing to the plan's minimum.
    pub minimum: i64,
    /// What is to be paid.
    pub total: i64,
}

/// What all tenants used in a range of days, for operators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TenantCosts {
    /// First day.
    pub from: NaiveDate,
    /// Last day, inclusive.
    pub to: NaiveDate,
    /// What ended until then is counted; null while an earlier release's usage is being counted.
    pub counted_until: Option<DateTime>,
    /// A row for each tenant and currency, in the order that was asked for.
    pub data: Vec<TenantCost>,
    /// Rows that `limit` left out.
    pub left_out: u64,
}

/// What one tenant used, and what it costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TenantCost {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub tenant: TenantId,
    /// Its name; null where it was purged.
    pub name: Option<String>,
    /// Its plan now.
    pub plan: Option<String>,
    /// What the same use costs by `cost_book`, micro-units; null without one, or where it is in another currency.
    pub own_cost: Option<i64>,
    /// `cost` less `own_cost`; null without it.
    pub margin: Option<i64>,
    /// The amounts. Without a currency no prices held: it is unpriced.
    #[serde(flatten)]
    pub total: CostTotal,
}

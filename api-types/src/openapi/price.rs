//! Prices as schemas. The domain's own types have none; a test compares their fields.

use super::words::Tier;
use crate::DateTime;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Prices in one currency, in whole micro-units: millionths of the currency's unit.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PriceBookPut)]
#[serde(deny_unknown_fields)]
pub struct PriceBookPut {
    /// Code of ISO 4217. A price book keeps its currency.
    #[schema(example = "EUR", min_length = 3, max_length = 3)]
    pub currency: String,
    /// Ascending by `effective_from`. Prices that are in effect cannot change.
    #[schema(min_items = 1, max_items = 240)]
    pub prices: Vec<Prices>,
}

/// A price book.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PriceBook)]
pub struct PriceBook {
    /// Its name.
    pub name: String,
    /// Version, from 1; counts changes.
    pub version: i64,
    /// Code of ISO 4217.
    #[schema(example = "EUR", min_length = 3, max_length = 3)]
    pub currency: String,
    /// Ascending by `effective_from`.
    pub prices: Vec<Prices>,
    /// When it was created.
    pub created_at: DateTime,
    /// When it was last changed.
    pub updated_at: DateTime,
}

/// What everything costs from an instant on, in micro-units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// When they begin to hold: for attempts that are placed from then on.
    pub effective_from: DateTime,
    /// Resources that an attempt holds, by the hour.
    #[schema(required = false)]
    pub rates: Rates,
    /// In place of `rates` for tasks of a tier.
    #[schema(required = false, value_type = BTreeMap<Tier, Rates>)]
    pub tiers: BTreeMap<String, Rates>,
    /// By the piece.
    #[schema(required = false)]
    pub each: Each,
    /// What is cheaper.
    #[schema(required = false)]
    pub discounts: Discounts,
    /// Discounts on a month's charges, ascending by `above`.
    #[schema(required = false, max_items = 10)]
    pub volume: Vec<VolumeStep>,
}

/// Micro-units for an hour of a resource, whether it is used or only held.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// A core.
    #[schema(minimum = 0, maximum = 10_000_000_000_i64, default = 0, required = false)]
    pub cpu_core: i64,
    /// A GiB of memory.
    #[schema(minimum = 0, maximum = 10_000_000_000_i64, default = 0, required = false)]
    pub memory_gib: i64,
    /// A GiB of disk.
    #[schema(minimum = 0, maximum = 10_000_000_000_i64, default = 0, required = false)]
    pub disk_gib: i64,
    /// 1000 disk operations a second.
    #[schema(minimum = 0, maximum = 10_000_000_000_i64, default = 0, required = false)]
    pub thousand_iops: i64,
    /// A port.
    #[schema(minimum = 0, maximum = 10_000_000_000_i64, default = 0, required = false)]
    pub port: i64,
}

/// Micro-units a piece.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = PriceOfEach)]
#[serde(deny_unknown_fields)]
pub struct Each {
    /// A task, once, with its first attempt.
    #[schema(minimum = 0, maximum = 10_000_000_000_i64, default = 0, required = false)]
    pub task: i64,
    /// A fire of a schedule, once, with the first attempt that it led to.
    #[schema(minimum = 0, maximum = 10_000_000_000_i64, default = 0, required = false)]
    pub fire: i64,
    /// A GiB of stored output for 30 days.
    #[schema(minimum = 0, maximum = 10_000_000_000_i64, default = 0, required = false)]
    pub stored_gib_month: i64,
}

/// What resources cost less for. Both apply: 20 % and 30 % make 44 %.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Discounts {
    /// By delay tolerance, ascending; the last band that fits holds.
    #[schema(required = false, max_items = 10)]
    pub tolerance: Vec<ToleranceBand>,
    /// Of tasks that are `flexible`, percent.
    #[schema(minimum = 0, maximum = 100, default = 0, required = false)]
    pub flexible_percent: u8,
}

/// A discount for tasks that may wait.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToleranceBand {
    /// Delay tolerance from which it holds, seconds.
    #[schema(minimum = 1)]
    pub at_least_s: u64,
    /// Percent.
    #[schema(minimum = 0, maximum = 100)]
    pub percent: u8,
}

/// A discount for much use.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeStep {
    /// Charges of a month above this are reduced, micro-units.
    #[schema(minimum = 1)]
    pub above: i64,
    /// By this, percent.
    #[schema(minimum = 0, maximum = 100)]
    pub percent: u8,
}

/// By which prices a plan is billed.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = PlanBilling)]
#[serde(deny_unknown_fields)]
pub struct Billing {
    /// Name of the price book. All amounts are of its currency.
    pub price_book: String,
    /// What each month includes.
    #[schema(required = false)]
    pub included: Included,
    /// The least that a month comes to, micro-units.
    #[schema(minimum = 0, maximum = 1_000_000_000_000_000_i64, default = 0, required = false)]
    pub minimum: i64,
}

/// What a plan includes in each month.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = PlanIncluded)]
#[serde(deny_unknown_fields)]
pub struct Included {
    /// Of the cost of attempts, micro-units.
    #[schema(minimum = 0, maximum = 1_000_000_000_000_000_i64, default = 0, required = false)]
    pub attempts: i64,
    /// Tasks.
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64, default = 0, required = false)]
    pub tasks: u64,
    /// Fires of schedules.
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64, default = 0, required = false)]
    pub fires: u64,
}

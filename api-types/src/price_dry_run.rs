//! `POST /v1/admin/price-dry-runs`: what past use would have cost by other prices.

use crate::CostBill;
use chrono::NaiveDate;
use domain::id::TenantId;
use serde::{Deserialize, Serialize};

/// What a month's use would have cost by other prices. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceDryRun {
    /// First day of the month, UTC.
    pub from: NaiveDate,
    /// Last day, inclusive.
    pub to: NaiveDate,
    /// Code of ISO 4217, of all amounts.
    pub currency: String,
    /// Days from here on are computed from their attempts, to the last micro-unit. Attempts of earlier ones are not kept: `after` is
    /// computed from the sums of each tier, without discounts for tolerance and `flexible`.
    pub exact_from: NaiveDate,
    /// What all tenants came to, micro-units: millionths of the currency's unit.
    pub before: i64,
    /// The same by the other prices.
    pub after: i64,
    /// A row for each tenant that used anything, the largest change first.
    pub data: Vec<PriceDryRunTenant>,
    /// Rows that `limit` left out.
    pub left_out: u64,
}

/// What a tenant's use would have cost by other prices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceDryRunTenant {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub tenant: TenantId,
    /// Its name; null where it was purged.
    pub name: Option<String>,
    /// Its plan now.
    pub plan: String,
    /// Billed attempts.
    pub charged_attempts: i64,
    /// Those of them that had no price, or one in another currency: they are in `after` and not in `before`.
    pub elsewhere_attempts: i64,
    /// Tasks, each with its first attempt.
    pub tasks: i64,
    /// What the month came to, with what the plan includes now, its minimum and the volume of its book.
    pub before: CostBill,
    /// The same by the other prices.
    pub after: CostBill,
    /// `total` of `after` less that of `before`, micro-units.
    pub change: i64,
}

//! Usage.

use chrono::NaiveDate;
use domain::resources::Tier;
use serde::Deserialize;

/// Usage in a range of days.
#[derive(Debug, Clone, Deserialize)]
pub struct Usage {
    /// First day, UTC.
    pub from: NaiveDate,
    /// Last day, inclusive.
    pub to: NaiveDate,
    /// One row for each day and tier with usage, in order.
    pub data: Vec<UsageOfDay>,
    /// The sums of all rows.
    pub total: Amounts,
}

/// Usage of one tier on one day.
#[derive(Debug, Clone, Deserialize)]
pub struct UsageOfDay {
    /// The day.
    pub day: NaiveDate,
    /// `None` for tasks with `resources` instead of a tier.
    pub tier: Option<Tier>,
    /// The figures.
    #[serde(flatten)]
    pub amounts: Amounts,
}

/// What is counted, in integers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Amounts {
    /// Attempts that ended.
    pub attempts: i64,
    /// Billed attempts.
    pub charged_attempts: i64,
    /// Billed time in ms.
    pub run_ms: i64,
    /// Sum of thousandths of a core x ms.
    pub cpu_millis_ms: i64,
    /// Sum of MiB x ms.
    pub memory_mib_ms: i64,
}

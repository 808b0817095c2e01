//! `GET /v1/usage`: billed usage.

use crate::Extensible;
use chrono::NaiveDate;
use domain::resources::Tier;
use serde::{Deserialize, Serialize};

/// Usage in a range of days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Usage {
    /// First day.
    pub from: NaiveDate,
    /// Last day, inclusive.
    pub to: NaiveDate,
    /// One row for each day and tier with usage, in order.
    pub data: Vec<UsageOfDay>,
    /// The sums of all rows.
    pub total: UsageAmounts,
}

/// Usage of one tier on one day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageOfDay {
    /// The day.
    pub day: NaiveDate,
    /// Null for tasks with `resources` instead of a tier.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Tier>))]
    pub tier: Option<Extensible<Tier>>,
    /// The figures.
    #[serde(flatten)]
    pub amounts: UsageAmounts,
}

/// The counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageAmounts {
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

impl UsageAmounts {
    /// Adds `other`; a sum beyond the range stays at its end.
    pub fn add(&mut self, other: Self) {
        self.attempts = self.attempts.saturating_add(other.attempts);
        self.charged_attempts = self.charged_attempts.saturating_add(other.charged_attempts);
        self.run_ms = self.run_ms.saturating_add(other.run_ms);
        self.cpu_millis_ms = self.cpu_millis_ms.saturating_add(other.cpu_millis_ms);
        self.memory_mib_ms = self.memory_mib_ms.saturating_add(other.memory_mib_ms);
    }
}

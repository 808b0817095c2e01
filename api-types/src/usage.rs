//! `GET /v1/usage`: billed usage.

use crate::{DateTime, Extensible};
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
    /// What ended until then is counted; null while an earlier release's usage is being counted.
    #[serde(default)]
    pub counted_until: Option<DateTime>,
    /// One row for each step and group with usage, in order.
    pub data: Vec<UsageOfStep>,
    /// The sums of all rows.
    pub total: UsageAmounts,
}

/// Usage of one group in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageOfStep {
    /// The day on which the step begins.
    pub day: NaiveDate,
    /// When the step begins.
    #[serde(default)]
    pub starts_at: DateTime,
    /// A tier, the id of a schedule, a workflow or the value of the label; null: none of them, or `others`.
    #[serde(default)]
    pub group: Option<String>,
    /// True: values of the label beyond the first 100 in a quarter of an hour.
    #[serde(default)]
    pub others: bool,
    /// The group, where it is a tier; null for tasks with `resources` instead of a tier.
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

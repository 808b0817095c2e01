//! Limits of the plan and their use.

use domain::time::Timestamp;
use serde::Deserialize;

/// The limits of a tenant.
#[derive(Debug, Clone, Deserialize)]
pub struct Limits {
    /// The plan's name.
    pub plan: Option<String>,
    /// State of the account: `active` or `suspended`.
    pub state: String,
    /// Tasks submitted per second.
    pub submits_per_second: u32,
    /// Burst of submitted tasks.
    pub submit_burst: u32,
    /// Tasks submitted per hour; 0: no limit.
    pub submits_per_hour: u32,
    /// Largest body of one task, bytes.
    pub payload_bytes: u64,
    /// Source of this limit: `plan` or `installation`.
    #[serde(default)]
    pub payload_bytes_of: String,
    /// Days for which finished tasks are shown.
    pub retention_days: u32,
    /// Scheduling weight.
    pub weight: f64,
    /// Whether tasks are flexible by default.
    pub flexible: bool,
    /// Rates of submits.
    pub rates: Vec<RateUse>,
    /// Quotas.
    pub quotas: Vec<QuotaUse>,
    /// The latest warnings, newest first.
    pub warnings: Vec<LimitWarning>,
}

/// One rate.
#[derive(Debug, Clone, Deserialize)]
pub struct RateUse {
    /// Its name.
    pub name: String,
    /// The limit, tasks.
    pub limit: u64,
    /// Tasks used.
    pub used: u64,
    /// Tasks that may be submitted now.
    pub left: u64,
    /// When the limit is full again without further submits.
    pub whole_at: Timestamp,
}

/// One quota.
#[derive(Debug, Clone, Deserialize)]
pub struct QuotaUse {
    /// Its name.
    pub name: String,
    /// What the plan allows.
    pub limit: u64,
    /// What is used.
    pub used: u64,
}

/// A warning.
#[derive(Debug, Clone, Deserialize)]
pub struct LimitWarning {
    /// When.
    pub at: Timestamp,
    /// Code, such as `quota_nearly_used`.
    pub kind: String,
    /// Details.
    pub detail: serde_json::Value,
}

//! What the plan allows, and what is used of it.

use domain::time::Timestamp;
use serde::Deserialize;

/// The limits of a tenant.
#[derive(Debug, Clone, Deserialize)]
pub struct Limits {
    /// The plan's name.
    pub plan: Option<String>,
    /// How the account stands: `active` or `suspended`.
    pub state: String,
    /// Tasks submitted per second.
    pub submits_per_second: u32,
    /// Tasks that may be submitted at once after a pause.
    pub submit_burst: u32,
    /// Tasks submitted per hour; 0 is no limit.
    pub submits_per_hour: u32,
    /// Largest body of one task, bytes.
    pub payload_bytes: u64,
    /// Which limit that is: `plan` or `installation`.
    #[serde(default)]
    pub payload_bytes_of: String,
    /// Days that ended tasks are shown.
    pub retention_days: u32,
    /// Share where customers compete for room.
    pub weight: f64,
    /// Tasks are flexible unless they say otherwise.
    pub flexible: bool,
    /// What was submitted lately of what may be.
    pub rates: Vec<RateUse>,
    /// What may be held at once, and what is.
    pub quotas: Vec<QuotaUse>,
    /// The latest warnings, newest first.
    pub warnings: Vec<LimitWarning>,
}

/// One rate.
#[derive(Debug, Clone, Deserialize)]
pub struct RateUse {
    /// Its name.
    pub name: String,
    /// Tasks that may be submitted where none was.
    pub limit: u64,
    /// Tasks used of these.
    pub used: u64,
    /// Tasks that may be submitted now.
    pub left: u64,
    /// When nothing of it will be used any more, if nothing is submitted.
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

/// Something to know of.
#[derive(Debug, Clone, Deserialize)]
pub struct LimitWarning {
    /// When.
    pub at: Timestamp,
    /// What, such as `quota_nearly_used`.
    pub kind: String,
    /// Its particulars.
    pub detail: serde_json::Value,
}

//! Template of the tasks that a schedule creates.

use crate::batch::Priority;
use crate::id::PoolName;
use crate::resources::{Resources, Tier};
use crate::task::{Delivery, RetryPolicy, Run};
use crate::time::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The validated task that each fire creates; id, tenant, time and key come from the fire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskTemplate {
    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Pool.
    pub pool: PoolName,
    /// `None` if resources were given instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// What it needs.
    pub resources: Resources,
    /// What it runs.
    pub run: Run,
    /// Delay tolerance.
    #[serde(with = "text")]
    pub delay_tolerance: Duration,
    /// Execution cap.
    #[serde(with = "text")]
    pub execution_cap: Duration,
    /// Whether it ends as `expired` if not started in time.
    pub expire_if_late: bool,
    /// Its priority within its tenant.
    pub priority: Priority,
    /// Whether it runs only in spare room until its tolerance is nearly used up.
    pub flexible: bool,
    /// Concurrency key; see [`crate::batch::ConcurrencyKey`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    /// Limit on charged attempts.
    pub max_attempts: u32,
    /// `None` is the default policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// What happens after a lost attempt.
    pub delivery: Delivery,
    /// Unique among the tenant's unfinished tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<String>,
    /// To find it by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

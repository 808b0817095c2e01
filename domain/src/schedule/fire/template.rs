//! What a fire makes: a task without the things that only a single task has.

use crate::batch::Priority;
use crate::id::PoolName;
use crate::resources::{Resources, Tier};
use crate::task::{Delivery, RetryPolicy, Run};
use crate::time::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The task that each fire makes, as it was validated; its id, tenant, time and key come with the fire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskTemplate {
    /// What its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it runs.
    pub pool: PoolName,
    /// `None` where resources were given instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// What it needs.
    pub resources: Resources,
    /// What it runs.
    pub run: Run,
    /// How long after it is due it may start.
    #[serde(with = "text")]
    pub delay_tolerance: Duration,
    /// How long an attempt may run.
    #[serde(with = "text")]
    pub execution_cap: Duration,
    /// Ends `expired` when it cannot start in time.
    pub expire_if_late: bool,
    /// Its priority within its tenant.
    pub priority: Priority,
    /// Runs where room is spare, until its tolerance is nearly used up.
    pub flexible: bool,
    /// What it shares a limit on running tasks with; see [`crate::batch::ConcurrencyKey`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    /// Limit on charged attempts.
    pub max_attempts: u32,
    /// `None` is the default policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// What a lost attempt means.
    pub delivery: Delivery,
    /// Unique among the tenant's tasks that have not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<String>,
    /// To find it by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

//! A task.

use domain::batch::Priority;
use domain::id::{ScheduleId, TaskId};
use domain::resources::{Resources, Tier};
use domain::task::{Delivery, State};
use domain::time::{Timestamp, text};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// A task.
#[derive(Debug, Clone, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Its name.
    pub name: Option<String>,
    /// State.
    pub state: State,
    /// Pool.
    pub pool: String,
    /// `None` if resources were given instead.
    pub tier: Option<Tier>,
    /// What it needs.
    pub resources: Resources,
    /// What it runs, as given: `command`, `http`, `noop` or another. `None` in a list without it.
    #[serde(default)]
    pub run: Option<Value>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// Due time; after a failure, that of the retry.
    pub run_at: Timestamp,
    /// Start deadline.
    pub start_deadline: Timestamp,
    /// How long after it became due it may start.
    #[serde(with = "text")]
    pub delay_tolerance: Duration,
    /// Longest run time of one attempt.
    #[serde(with = "text")]
    pub execution_cap: Duration,
    /// Whether it ends as `expired` if not started in time.
    pub expire_if_late: bool,
    /// Priority within the tenant.
    pub priority: Priority,
    /// Whether it runs only in spare room until its tolerance is nearly used up.
    pub flexible: bool,
    /// Concurrency key.
    pub concurrency_key: Option<String>,
    /// Maximum of charged attempts.
    pub max_attempts: u32,
    /// Attempts so far, with uncharged ones.
    pub attempts: u32,
    /// Charged attempts that failed.
    pub failures: u32,
    /// Retry policy, as given.
    pub retry: Value,
    /// After a lost attempt: run again or not.
    pub delivery: Delivery,
    /// Unique among the tenant's unfinished tasks.
    pub unique_key: Option<String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// When its first attempt was placed.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Reason of its end.
    pub reason: Option<String>,
    /// Exit code of the last attempt, once ended.
    pub exit_code: Option<i32>,
    /// Current executor.
    pub executor: Option<String>,
    /// Schedule that created it.
    pub schedule: Option<ScheduleId>,
    /// The task that it runs again.
    #[serde(default)]
    pub rerun_of: Option<TaskId>,
    /// Name of the schedule at that time, if any.
    #[serde(default)]
    pub schedule_name: Option<String>,
    /// Its due time, which retries do not change; `None` from an older server.
    #[serde(default)]
    pub due_at: Option<Timestamp>,
    /// Warnings, only in the response to a submit.
    #[serde(default)]
    pub warnings: Vec<TaskWarning>,
}

/// A warning about an accepted task.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TaskWarning {
    /// Code: `no_executor`, `too_large` or another.
    pub code: String,
    /// Explanation for people.
    pub detail: String,
    /// JSON pointer into the request.
    pub pointer: String,
}

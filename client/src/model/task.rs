//! A task as the API shows it.

use domain::batch::Priority;
use domain::id::{ScheduleId, TaskId};
use domain::resources::{Resources, Tier};
use domain::task::{Delivery, State};
use domain::time::{Timestamp, text};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// One piece of work.
#[derive(Debug, Clone, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// What its owner calls it.
    pub name: Option<String>,
    /// Where it is in its life.
    pub state: State,
    /// The group of executors it runs on.
    pub pool: String,
    /// `None` where resources were given instead.
    pub tier: Option<Tier>,
    /// What it needs.
    pub resources: Resources,
    /// What it runs, as given; `command`, `http` or `noop`, and in newer servers others. `None` in a list that was not asked for it.
    #[serde(default)]
    pub run: Option<Value>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it is due: at first, and again after a failure.
    pub run_at: Timestamp,
    /// Until when it should start.
    pub start_deadline: Timestamp,
    /// How long after it became due it may start.
    #[serde(with = "text")]
    pub delay_tolerance: Duration,
    /// The longest one attempt may run.
    #[serde(with = "text")]
    pub execution_cap: Duration,
    /// It ends as `expired` when it could not start in time.
    pub expire_if_late: bool,
    /// Before or after others of the tenant.
    pub priority: Priority,
    /// It runs where room is spare, until its tolerance is nearly used up.
    pub flexible: bool,
    /// What it shares a limit on running tasks with.
    pub concurrency_key: Option<String>,
    /// Attempts that count, at most.
    pub max_attempts: u32,
    /// Attempts so far, those that cost nothing included.
    pub attempts: u32,
    /// Attempts that failed and count.
    pub failures: u32,
    /// What happens when an attempt fails, as given.
    pub retry: Value,
    /// What a lost attempt means.
    pub delivery: Delivery,
    /// Unique among the tenant's tasks that have not ended.
    pub unique_key: Option<String>,
    /// To find it by.
    pub labels: BTreeMap<String, String>,
    /// When its first attempt was placed.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Why it ended as it did.
    pub reason: Option<String>,
    /// Exit code of the last attempt, once ended.
    pub exit_code: Option<i32>,
    /// Where it runs now.
    pub executor: Option<String>,
    /// The schedule that made it.
    pub schedule: Option<ScheduleId>,
    /// The task that it runs again.
    #[serde(default)]
    pub rerun_of: Option<TaskId>,
    /// The name that the schedule had then; none where no schedule made it.
    #[serde(default)]
    pub schedule_name: Option<String>,
    /// The due time it is for, which no retry changes; `None` where an older server does not say.
    #[serde(default)]
    pub due_at: Option<Timestamp>,
    /// What its owner should know of it; only in the answer to a submit.
    #[serde(default)]
    pub warnings: Vec<TaskWarning>,
}

/// Something to know of a task that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TaskWarning {
    /// What, for programs: `no_executor` or `too_large`, and in newer servers others.
    pub code: String,
    /// The same for people.
    pub detail: String,
    /// What it is about, as a JSON pointer into what was sent.
    pub pointer: String,
}

//! Tasks, as the API shows them.

use crate::request::CompletionOutcome;
use crate::{DateTime, Extensible};
use domain::batch::Priority;
use domain::dependency::{Condition, Join};
use domain::id::{
    ExecutorId, PoolName, PriceBookName, ScheduleId, SpendCapName, TaskId, WorkflowRunId,
};
use domain::price::{Currency, Micros};
use domain::resources::{Resources, Tier};
use domain::task::{Backoff, Delivery, RetryOn, RetryPolicy, Run, State};
use domain::time::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Task {
    /// `task_` and 32 hex digits.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071"))]
    pub id: TaskId,
    /// Its name.
    pub name: Option<String>,
    /// Its state.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::State))]
    pub state: Extensible<State>,
    /// Its pool.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub pool: PoolName,
    /// Null if `resources` were given instead.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Tier>))]
    pub tier: Option<Extensible<Tier>>,
    /// What it needs.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::request::Resources))]
    pub resources: Resources,
    /// What it runs, as submitted. Absent in a list without `include=run`, and if it was stored by an incompatible version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::request::Run, required = false))]
    pub run: Option<Extensible<Run>>,
    /// When it was submitted.
    pub created_at: DateTime,
    /// Due time; after a failure, that of the retry.
    pub run_at: DateTime,
    /// Start deadline.
    pub start_deadline: DateTime,
    /// How long after its due time it may start.
    #[serde(with = "text")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub delay_tolerance: Duration,
    /// Longest run time of one attempt.
    #[serde(with = "text")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub execution_cap: Duration,
    /// Whether it ends as `expired` if not started in time.
    pub expire_if_late: bool,
    /// Priority among the tenant's tasks.
    #[cfg_attr(feature = "openapi", schema(value_type = i32))]
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
    /// Retry policy.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::request::Retry))]
    pub retry: Retry,
    /// After a lost attempt: run again or not.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Delivery))]
    pub delivery: Extensible<Delivery>,
    /// Unique among the tenant's unfinished tasks.
    pub unique_key: Option<String>,
    /// Labels.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Labels))]
    pub labels: BTreeMap<String, String>,
    /// When its first attempt was placed.
    pub started_at: Option<DateTime>,
    /// When it ended.
    pub finished_at: Option<DateTime>,
    /// Reason of its end.
    pub reason: Option<String>,
    /// Exit code of the last attempt, once ended.
    pub exit_code: Option<i32>,
    /// Current executor.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub executor: Option<ExecutorId>,
    /// Schedule that created it: `schedule_` and 32 hex digits; null if none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub schedule: Option<ScheduleId>,
    /// Task that it runs again, see `POST /v1/tasks/{id}/rerun`; null if none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub rerun_of: Option<TaskId>,
    /// The tasks that it waits for, or waited for, and how each must end.
    pub depends_on: Vec<TaskParent>,
    /// How many of `depends_on` must end as asked; null if there are none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Join>))]
    pub join: Option<Extensible<Join>>,
    /// The workflow run that it is of; null if none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub workflow_run: Option<WorkflowRunId>,
    /// Its node there, or an item of it, such as `resize[3]`.
    pub node: Option<String>,
    /// Name of the schedule at that time; stays when the schedule is deleted.
    pub schedule_name: Option<String>,
    /// Due time of its schedule, also in a backfill; else its first due time. Retries do not change it.
    pub due_at: DateTime,
    /// Counts the changes of its owner, from 1; see `PATCH /v1/tasks/{id}`.
    pub version: i64,
    /// What it reserves of spend caps. Absent in a list, in the response to a submit, once it has ended, and where it was accepted without
    /// caps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = TaskReservation, required = false))]
    pub reservation: Option<TaskReservation>,
    /// What its attempts that have ended cost, by currency; empty: none has ended. Only with `include=cost`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<TaskCost>, required = false))]
    pub cost: Option<Vec<TaskCost>>,
    /// Warnings, only in the response to a submit. Absent if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub warnings: Vec<TaskWarning>,
}

impl Task {
    /// Whether it has ended. Also true of an end that only a later version knows.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.finished_at.is_some()
    }
}

/// What a task reserves of the spend caps that hold for it, until it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskReservation {
    /// The most that it can cost, micro-units; `spent` is a part of it.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub amount: Micros,
    /// What its finished attempts have cost, micro-units.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub spent: Micros,
    /// Code of ISO 4217; null: you were billed by no prices.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, example = "EUR"))]
    pub currency: Option<Currency>,
    /// The price book whose prices it has; null: none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub price_book: Option<PriceBookName>,
    /// Names of the caps, without those that were deleted. Empty: none of your caps is of this task, and it has the prices of its
    /// submission.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub caps: Vec<SpendCapName>,
}

/// What attempts of a task that have ended cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskCost {
    /// Code of ISO 4217; null: unpriced.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, example = "EUR"))]
    pub currency: Option<Currency>,
    /// True: no prices held when these attempts were placed, and nothing is billed for them.
    pub unpriced: bool,
    /// How many attempts.
    pub attempts: u32,
    /// What they cost, micro-units: millionths of the currency's unit. With what the task and the fire of its schedule cost for themselves.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub cost: Micros,
}

/// A task that another one waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskParent {
    /// The parent.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub task: TaskId,
    /// How it must end.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Condition))]
    pub on: Extensible<Condition>,
}

/// A retry policy with all its fields; its schema is that of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// How the wait grows.
    pub backoff: Extensible<Backoff>,
    /// The first wait.
    #[serde(with = "text")]
    pub initial: Duration,
    /// Growth of `exponential`, 1.0 to 100.0.
    pub factor: f64,
    /// The longest wait.
    #[serde(with = "text")]
    pub max: Duration,
    /// Draw the wait evenly from 0 to the back-off.
    pub jitter: bool,
    /// Exit codes after which there is no other attempt.
    pub abort_on_exit_codes: Vec<i32>,
    /// The ends of an attempt after which there is another.
    pub on: Vec<Extensible<RetryOn>>,
}

impl From<RetryPolicy> for Retry {
    fn from(policy: RetryPolicy) -> Self {
        let RetryPolicy { backoff, initial, factor, max, jitter, abort_on_exit_codes, on } = policy;
        let on = on.into_iter().map(Extensible::Known).collect();
        Self { backoff: backoff.into(), initial, factor, max, jitter, abort_on_exit_codes, on }
    }
}

/// A warning about an accepted task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskWarning {
    /// Code: `no_executor` or `too_large`; for a schedule also `schedules_held` and `pool_unavailable`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub code: Extensible<WarningCode>,
    /// Explanation for people.
    pub detail: String,
    /// JSON pointer into the body.
    pub pointer: String,
}

/// What a warning is about.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// The pool has no executor.
    NoExecutor,
    /// No executor of the pool is large enough.
    TooLarge,
    /// All schedules are held after a restore.
    SchedulesHeld,
    /// The pool does not exist, or may not be used.
    PoolUnavailable,
}

impl WarningCode {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The task and the result of the cancel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CancelledTask {
    /// The task now.
    #[serde(flatten)]
    pub task: Task,
    /// The result.
    #[cfg_attr(feature = "openapi", schema(value_type = CancelResult))]
    pub cancel: Extensible<CancelResult>,
}

/// A completion of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompletedTask {
    /// The task.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: TaskId,
    /// The attempt that ended.
    pub attempt: u32,
    /// How it ended.
    pub outcome: CompletionOutcome,
    /// It had ended so before: nothing was changed.
    pub repeated: bool,
}

/// Result of a cancel.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Cancel))]
pub enum CancelResult {
    /// Cancelled before it started.
    Cancelled,
    /// Running; a stop was requested.
    Requested,
    /// A stop was already requested.
    AlreadyRequested,
    /// Already finished.
    AlreadyEnded,
}

impl CancelResult {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

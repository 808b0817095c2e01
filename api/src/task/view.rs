//! A task as it is shown. Written straight from the record, without a copy.

use super::Warning;
use crate::answer::to_json;
use crate::problem::Problem;
use domain::batch::{ConcurrencyKey, Priority};
use domain::id::{ScheduleId, TaskId};
use domain::resources::{Resources, Tier};
use domain::task::{Backoff, Delivery, Labels, RetryOn, RetryPolicy, Run, State};
use domain::time::{Timestamp, text};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;
use store::task::TaskRecord;
use utoipa::ToSchema;

/// A task.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Task)]
pub struct TaskView<'a> {
    /// `task_` and 32 hex digits.
    #[schema(value_type = String, example = "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071")]
    id: TaskId,
    name: Option<&'a str>,
    #[schema(value_type = super::super::openapi::words::State)]
    state: State,
    pool: &'a str,
    /// Null if `resources` were given instead.
    #[schema(value_type = Option<super::super::openapi::words::Tier>)]
    tier: Option<Tier>,
    #[schema(value_type = super::ResourcesSpec)]
    resources: Resources,
    /// What it runs, as submitted. Absent in a list without `include=run`, and if it was stored by an incompatible version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = super::RunSpec, required = false)]
    run: Option<&'a Run>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Due time; after a failure, that of the retry.
    #[schema(value_type = String, format = DateTime)]
    run_at: Timestamp,
    /// Start deadline.
    #[schema(value_type = String, format = DateTime)]
    start_deadline: Timestamp,
    #[serde(with = "text")]
    #[schema(value_type = String)]
    delay_tolerance: Duration,
    #[serde(with = "text")]
    #[schema(value_type = String)]
    execution_cap: Duration,
    expire_if_late: bool,
    #[schema(value_type = i32)]
    priority: Priority,
    flexible: bool,
    concurrency_key: Option<&'a str>,
    max_attempts: u32,
    /// Attempts so far, with uncharged ones.
    attempts: u32,
    /// Charged attempts that failed.
    failures: u32,
    #[schema(value_type = super::RetrySpec)]
    retry: RetryView,
    #[schema(value_type = super::super::openapi::words::Delivery)]
    delivery: Delivery,
    unique_key: Option<&'a str>,
    #[schema(value_type = super::super::openapi::words::Labels)]
    labels: &'a Labels,
    /// When its first attempt was placed.
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
    /// Reason of its end.
    reason: Option<&'a str>,
    /// Exit code of the last attempt, once ended.
    exit_code: Option<i32>,
    /// Current executor.
    executor: Option<&'a str>,
    /// Schedule that created it: `schedule_` and 32 hex digits; null if none.
    #[schema(value_type = Option<String>)]
    schedule: Option<ScheduleId>,
    /// Task that it runs again, see `POST /v1/tasks/{id}/rerun`; null if none.
    #[schema(value_type = Option<String>)]
    rerun_of: Option<TaskId>,
    /// Name of the schedule at that time; stays when the schedule is deleted.
    schedule_name: Option<&'a str>,
    /// Due time of its schedule, also in a backfill; else its first due time. Retries do not change it.
    #[schema(value_type = String, format = DateTime)]
    due_at: Timestamp,
    /// Warnings, only in the response to a submit. Absent if none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: &'a [Warning],
}

/// Id and state of a task.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = TaskState)]
pub struct StateView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: TaskId,
    /// State at the time of the response; null if the task existed before (see `existing`).
    #[schema(value_type = Option<super::super::openapi::words::State>)]
    pub state: Option<State>,
    /// This task has the `unique_key`, so no new one was created.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
}

/// A retry policy with all its fields: what is stored leaves out some that are as usual.
#[derive(Debug, Serialize)]
pub struct RetryView {
    backoff: Backoff,
    #[serde(with = "text")]
    initial: Duration,
    factor: f64,
    #[serde(with = "text")]
    max: Duration,
    jitter: bool,
    abort_on_exit_codes: Vec<i32>,
    on: BTreeSet<RetryOn>,
}

impl From<RetryPolicy> for RetryView {
    fn from(policy: RetryPolicy) -> Self {
        let RetryPolicy { backoff, initial, factor, max, jitter, abort_on_exit_codes, on } = policy;
        Self { backoff, initial, factor, max, jitter, abort_on_exit_codes, on }
    }
}

impl<'a> TaskView<'a> {
    /// The view of a record.
    #[must_use]
    pub fn new(task: &'a TaskRecord) -> Self {
        Self { run: task.run.as_ref(), ..Self::without_run(task) }
    }

    /// The same without what it runs, which may be large.
    #[must_use]
    pub fn without_run(task: &'a TaskRecord) -> Self {
        Self {
            id: task.id,
            name: task.name.as_deref(),
            state: task.state,
            pool: task.pool.as_str(),
            tier: task.tier,
            resources: task.resources,
            run: None,
            created_at: task.created_at,
            run_at: task.run_at,
            start_deadline: task.start_deadline,
            delay_tolerance: task.delay_tolerance,
            execution_cap: task.execution_cap,
            expire_if_late: task.expire_if_late,
            priority: task.priority,
            flexible: task.flexible,
            concurrency_key: task.concurrency_key.as_ref().map(ConcurrencyKey::as_str),
            max_attempts: task.max_attempts,
            attempts: task.attempts,
            failures: task.failures,
            retry: task.retry.clone().unwrap_or_default().into(),
            delivery: task.delivery,
            unique_key: task.unique_key.as_deref(),
            labels: &task.labels,
            started_at: task.started_at,
            finished_at: task.finished_at,
            reason: task.reason.as_deref(),
            exit_code: task.exit_code,
            executor: task.executor.as_deref(),
            schedule: task.schedule,
            rerun_of: task.rerun_of,
            schedule_name: task.schedule_name.as_deref(),
            due_at: task.due_at,
            warnings: &[],
        }
    }

    /// The task as JSON.
    ///
    /// # Errors
    /// `internal` when it cannot be written, which would be a bug.
    pub fn json(task: &'a TaskRecord) -> Result<Vec<u8>, Problem> {
        Self::submitted_json(task, &[])
    }

    /// The task as JSON, as whoever submitted it just now is answered.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub fn submitted_json(
        task: &'a TaskRecord,
        warnings: &'a [Warning],
    ) -> Result<Vec<u8>, Problem> {
        to_json(&Self { warnings, ..Self::new(task) })
    }
}

//! A schedule and its fires as they are shown.

use crate::openapi::words::SCHEDULE_STATES;
use crate::task::RetryView;
use domain::batch::Priority;
use domain::id::{ScheduleId, TaskId};
use domain::resources::{Resources, Tier};
use domain::schedule::{Misfire, Outcome, Overlap, TaskTemplate, Timing, tzdb_of};
use domain::task::{Delivery, Run};
use domain::time::{Timestamp, text};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use store::schedule::{FireKind, FireRecord, Pause, ScheduleRecord};
use utoipa::ToSchema;

/// A schedule. `timing`, `task`, `overlap` and `misfire` are as in PUT.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Schedule)]
pub struct ScheduleView<'a> {
    /// `schedule_` and 32 hex digits.
    #[schema(value_type = String, example = "schedule_0190a6f3c1d27a3e8b1f0c2d4e5f6071")]
    id: ScheduleId,
    name: &'a str,
    /// Version, from 1.
    version: i64,
    /// `active`, `paused`, or `over` (never due again).
    #[schema(value_type = super::super::openapi::words::ScheduleState)]
    state: &'static str,
    #[schema(value_type = super::TimingSpec)]
    timing: &'a Timing,
    #[schema(value_type = crate::task::TaskSpec)]
    task: TemplateView<'a>,
    #[schema(value_type = super::super::openapi::words::Overlap)]
    overlap: Overlap,
    #[schema(value_type = super::MisfireSpec)]
    misfire: Misfire,
    /// Pause after this many consecutive tasks without success; null: never.
    pause_after_failures: Option<u32>,
    /// Current number of consecutive tasks without success, by their ends; 0 if `pause_after_failures` is null.
    failures_in_row: u32,
    /// Null if not paused.
    paused: Option<PauseView<'a>>,
    /// Next due time; null if finished, or if its task must end first.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_due_at: Option<Timestamp>,
    /// Next due time with jitter.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_fire_at: Option<Timestamp>,
    /// Due times that created a task, without manual triggers.
    fires: u64,
    /// Its latest tasks, finished or not.
    #[schema(value_type = Vec<String>)]
    recent_tasks: &'a [TaskId],
    /// Release of the time zone data used for the next due time.
    tzdb: &'a str,
    /// Key or sign-in that stored it; also the submitter of its tasks.
    created_by: &'a str,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// When it finished.
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
    /// What its owner should know of it: that its due times make no task, because its pool is none; that the operators hold all schedules;
    /// and, only where it was stored just now, that its task fits no executor. Absent where there is nothing.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<crate::task::Warning>, required = false)]
    warnings: &'a [crate::task::Warning],
}

/// Pause of a schedule.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SchedulePaused)]
pub struct PauseView<'a> {
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Who paused it; `system` after failures of its tasks.
    by: &'a str,
    /// Why.
    reason: Option<&'a str>,
}

/// A fire: the outcome of one due time.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Fire)]
pub struct FireView<'a> {
    /// The due time.
    #[schema(value_type = String, format = DateTime)]
    due_at: Timestamp,
    #[schema(value_type = super::super::openapi::words::FireOutcome)]
    outcome: Outcome,
    /// Origin of the fire.
    #[schema(value_type = super::super::openapi::words::FireKind)]
    kind: &'static str,
    /// When it was decided, by the database clock.
    #[schema(value_type = String, format = DateTime)]
    fired_at: Timestamp,
    /// The created task.
    #[schema(value_type = Option<String>)]
    task: Option<TaskId>,
    /// Version of the schedule at that time.
    version: i64,
    /// Details of the outcome.
    detail: Option<&'a str>,
}

/// A template in the form of a task that is submitted.
#[derive(Debug, Serialize)]
struct TemplateView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Resources>,
    run: &'a Run,
    #[serde(with = "text")]
    delay_tolerance: Duration,
    #[serde(with = "text")]
    execution_cap: Duration,
    expire_if_late: bool,
    priority: Priority,
    flexible: bool,
    max_attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<RetryView>,
    delivery: Delivery,
    pool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unique_key: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: &'a BTreeMap<String, String>,
}

impl<'a> ScheduleView<'a> {
    /// The same for whoever has stored it just now.
    #[must_use]
    pub fn with_warnings(self, warnings: &'a [crate::task::Warning]) -> Self {
        Self { warnings, ..self }
    }
}

impl<'a> From<&'a ScheduleRecord> for ScheduleView<'a> {
    fn from(schedule: &'a ScheduleRecord) -> Self {
        let state = match (schedule.ended_at, &schedule.paused) {
            (Some(_), _) => SCHEDULE_STATES[2],
            (None, Some(_)) => SCHEDULE_STATES[1],
            (None, None) => SCHEDULE_STATES[0],
        };
        Self {
            id: schedule.id,
            name: &schedule.name,
            version: schedule.version,
            state,
            timing: &schedule.timing,
            task: TemplateView::from(&schedule.template),
            overlap: schedule.overlap,
            misfire: schedule.misfire,
            pause_after_failures: schedule.pause_after_failures,
            failures_in_row: schedule.failures_in_row,
            paused: schedule.paused.as_ref().map(PauseView::from),
            next_due_at: schedule.next_at,
            next_fire_at: schedule.next_fire_at,
            fires: schedule.fires,
            recent_tasks: &schedule.recent,
            tzdb: tzdb_of(&schedule.tzdb),
            created_by: &schedule.created_by,
            created_at: schedule.created_at,
            updated_at: schedule.updated_at,
            ended_at: schedule.ended_at,
            warnings: &[],
        }
    }
}

impl<'a> From<&'a Pause> for PauseView<'a> {
    fn from(pause: &'a Pause) -> Self {
        Self { at: pause.at, by: &pause.by, reason: pause.because.as_deref() }
    }
}

impl<'a> From<&'a FireRecord> for FireView<'a> {
    fn from(fire: &'a FireRecord) -> Self {
        Self {
            due_at: fire.due_at,
            outcome: fire.outcome,
            kind: FireKind::as_str(fire.kind),
            fired_at: fire.fired_at,
            task: fire.task,
            version: fire.version,
            detail: fire.detail.as_deref(),
        }
    }
}

impl<'a> From<&'a TaskTemplate> for TemplateView<'a> {
    fn from(task: &'a TaskTemplate) -> Self {
        Self {
            name: task.name.as_deref(),
            tier: task.tier,
            // What a tier means is not said again: the two cannot be given together.
            resources: task.tier.is_none().then_some(task.resources),
            run: &task.run,
            delay_tolerance: task.delay_tolerance,
            execution_cap: task.execution_cap,
            expire_if_late: task.expire_if_late,
            priority: task.priority,
            flexible: task.flexible,
            max_attempts: task.max_attempts,
            retry: task.retry.clone().map(RetryView::from),
            delivery: task.delivery,
            pool: task.pool.as_str(),
            concurrency_key: task.concurrency_key.as_deref(),
            unique_key: task.unique_key.as_deref(),
            labels: &task.labels,
        }
    }
}

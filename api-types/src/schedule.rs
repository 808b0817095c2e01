//! Schedules and their fires, as the API shows them.

use crate::{ActorId, DateTime, Extensible, RawJson, Retry, TaskWarning};
use domain::batch::Priority;
use domain::id::{PoolName, ScheduleId, TaskId, WorkflowRunId};
use domain::resources::{Resources, Tier};
use domain::schedule::{Misfire, Outcome, Overlap, Timing};
use domain::task::{Delivery, Run};
use domain::time::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A schedule. `timing`, `task`, `workflow`, `overlap` and `misfire` are as in PUT.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Schedule {
    /// `schedule_` and 32 hex digits.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "schedule_0190a6f3c1d27a3e8b1f0c2d4e5f6071"))]
    pub id: ScheduleId,
    /// Its name.
    pub name: String,
    /// Version, from 1.
    pub version: i64,
    /// `active`, `paused`, or `over` (never due again).
    #[cfg_attr(feature = "openapi", schema(value_type = ScheduleState))]
    pub state: Extensible<ScheduleState>,
    /// When it is due.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::request::Timing))]
    pub timing: Extensible<Timing>,
    /// The task that each fire creates. Absent if it starts runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::request::NewTask, required = false))]
    pub task: Option<ScheduleTask>,
    /// The workflow of which each fire starts a run. Absent if it creates tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::request::ScheduleWorkflow, required = false))]
    pub workflow: Option<ScheduledWorkflow>,
    /// Overlap policy.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Overlap))]
    pub overlap: Extensible<Overlap>,
    /// Misfire policy.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::request::Misfire))]
    pub misfire: Extensible<Misfire>,
    /// Pause after this many consecutive tasks or runs without success; null: never.
    pub pause_after_failures: Option<u32>,
    /// Current number of consecutive tasks or runs without success, by their ends; 0 if `pause_after_failures` is null.
    pub failures_in_row: u32,
    /// Null if not paused.
    pub paused: Option<SchedulePaused>,
    /// Next due time; null if finished, or if its task or run must end first.
    pub next_due_at: Option<DateTime>,
    /// Next due time with jitter.
    pub next_fire_at: Option<DateTime>,
    /// Due times that created a task or started a run, without manual triggers.
    pub fires: u64,
    /// Its latest tasks, finished or not.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub recent_tasks: Vec<TaskId>,
    /// Its latest workflow runs, finished or not.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub recent_runs: Vec<WorkflowRunId>,
    /// Release of the time zone data used for the next due time.
    pub tzdb: String,
    /// Key or sign-in that stored it; also the submitter of its tasks and runs.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub created_by: ActorId,
    /// When it was created.
    pub created_at: DateTime,
    /// When it was last changed.
    pub updated_at: DateTime,
    /// When it finished.
    pub ended_at: Option<DateTime>,
    /// What its owner should know of it: that its due times make no task, because its pool is none; that the operators hold all schedules;
    /// and, only where it was stored just now, that its task fits no executor. Absent where there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub warnings: Vec<TaskWarning>,
}

/// The workflow of which a schedule starts runs; its schema is that of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduledWorkflow {
    /// Its name.
    pub name: String,
    /// Input of the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<RawJson>,
}

/// The task that a schedule creates, in the form of a task that is submitted; its schema is that of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleTask {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Extensible<Tier>>,
    /// What it needs, if no tier was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// What it runs.
    pub run: Extensible<Run>,
    /// How long after its due time it may start.
    #[serde(with = "text")]
    pub delay_tolerance: Duration,
    /// Longest run time of one attempt.
    #[serde(with = "text")]
    pub execution_cap: Duration,
    /// Whether it ends as `expired` if not started in time.
    pub expire_if_late: bool,
    /// Priority among the tenant's tasks.
    pub priority: Priority,
    /// Whether it runs only in spare room until its tolerance is nearly used up.
    pub flexible: bool,
    /// Maximum of charged attempts.
    pub max_attempts: u32,
    /// Retry policy; `None`: the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// After a lost attempt: run again or not.
    pub delivery: Extensible<Delivery>,
    /// Its pool.
    pub pool: PoolName,
    /// Concurrency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    /// Unique among the tenant's unfinished tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<String>,
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// State of a schedule.
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ScheduleState {
    /// It fires at its due times.
    Active,
    /// Its due times have the outcome `paused`.
    Paused,
    /// It is never due again.
    Over,
}

impl ScheduleState {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Pause of a schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SchedulePaused {
    /// Since when.
    pub at: DateTime,
    /// Who paused it; `system` after failures of its tasks.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub by: ActorId,
    /// Why.
    pub reason: Option<String>,
}

/// A deleted schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeletedSchedule {
    /// Its name.
    pub name: String,
    /// True.
    pub deleted: bool,
}

/// A fire: the outcome of one due time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Fire {
    /// The due time.
    pub due_at: DateTime,
    /// Its outcome.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::FireOutcome))]
    pub outcome: Extensible<Outcome>,
    /// Origin of the fire.
    #[cfg_attr(feature = "openapi", schema(value_type = FireKind))]
    pub kind: Extensible<FireKind>,
    /// When it was decided, by the database clock.
    pub fired_at: DateTime,
    /// The created task.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub task: Option<TaskId>,
    /// The started workflow run.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub workflow_run: Option<WorkflowRunId>,
    /// Version of the schedule at that time.
    pub version: i64,
    /// Details of the outcome.
    pub detail: Option<String>,
}

/// Origin of a fire.
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum FireKind {
    /// A due time.
    Scheduled,
    /// `POST /v1/schedules/{name}/trigger`.
    Trigger,
    /// `POST /v1/schedules/{name}/backfill`.
    Backfill,
}

impl FireKind {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Due times of a schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SchedulePreview {
    /// The time zone.
    pub zone: String,
    /// Release of the time zone data.
    pub tzdb: String,
    /// The due times, in order.
    pub due: Vec<ScheduleDue>,
    /// There may be more due times after these.
    pub more: bool,
}

/// One due time, without jitter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleDue {
    /// When.
    pub at: DateTime,
    /// Local time in the zone.
    #[cfg_attr(feature = "openapi", schema(example = "2027-03-14T03:00:00-04:00"))]
    pub local: String,
    /// Abbreviation of the zone's time.
    #[cfg_attr(feature = "openapi", schema(example = "EDT"))]
    pub abbreviation: String,
    /// `shifted`: the time of day does not exist on this day; `repeated`: its first occurrence of two; `again`: its
    /// second; `change_day`: the clocks change on this day.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<DueMark>))]
    pub marks: Vec<Extensible<DueMark>>,
}

/// How a clock change affects a due time.
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DueMark {
    /// The time of day does not exist on this day.
    Shifted,
    /// Its first occurrence of two.
    Repeated,
    /// Its second occurrence.
    Again,
    /// The clocks change on this day.
    ChangeDay,
}

impl DueMark {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Plan of a backfill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleBackfillPlan {
    /// Due times of the range.
    pub due: u32,
    /// Due times without a task or run, which will fire.
    pub to_fire: u32,
    /// The first of these.
    pub first: Option<DateTime>,
    /// The last of these.
    pub last: Option<DateTime>,
    /// Tasks created or runs started per second.
    pub per_second: f64,
    /// Whether only the plan was returned.
    pub dry_run: bool,
}

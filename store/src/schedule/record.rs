//! A schedule and its fires as readers see them.

use crate::StoreError;
use crate::statement::RowCount;
use domain::audit::ActorId;
use domain::id::{ScheduleId, TaskId, TenantId, WorkflowRunId};
use domain::schedule::{Coming, FireTemplate, Misfire, Outcome, Overlap, Timing};
use domain::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::str::FromStr;
use uuid::Uuid;

/// A schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleRecord {
    /// The tenant.
    pub tenant: TenantId,
    /// Its id.
    pub id: ScheduleId,
    /// What its owner calls it; unique among the tenant's schedules.
    pub name: String,
    /// Counts its changes, from 1.
    pub version: i64,
    /// What decides when.
    pub timing: Timing,
    /// What a fire makes.
    pub template: FireTemplate,
    /// What is done while an earlier task of it lives.
    pub overlap: Overlap,
    /// What is done with due times that were not fired in time.
    pub misfire: Misfire,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The key or the sign-in by which it was made; its tasks come by the same.
    pub created_by: ActorId,
    /// It is paused when so many of its tasks in a row have not succeeded; `None`: never. See [`domain::schedule::FailureStreak`].
    pub pause_after_failures: Option<u32>,
    /// So many of them have not, in a row; 0 where they are not counted.
    pub failures_in_row: u32,
    /// Since when, by whom and why it is paused.
    pub paused: Option<Pause>,
    /// The next due time; `None`: it is over.
    pub next_at: Option<Timestamp>,
    /// When that is to be fired: the due time and its share of the jitter.
    pub next_fire_at: Option<Timestamp>,
    /// Due times that made a task, those by hand not counted: what `max_fires` is compared with.
    pub fires: u64,
    /// Its latest tasks, the live ones at the last fire and those made since; some may have ended.
    pub recent: Vec<TaskId>,
    /// The same of its workflow runs.
    pub recent_runs: Vec<WorkflowRunId>,
    /// The task or the run after whose end its next due time counts, as it is stored.
    pub awaits: Option<Uuid>,
    /// The version of the rules by which the next due time was found; see [`domain::schedule::rules_version`].
    pub tzdb: String,
    /// When it was found to have no due time any more.
    pub ended_at: Option<Timestamp>,
    /// Since when its timing is what it is; `None`: since it was made.
    pub timing_since: Option<Timestamp>,
    /// Due times of earlier versions may have no row yet: see [`super::span`].
    pub(super) has_spans: bool,
}

/// That a schedule is paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// Since when.
    pub at: Timestamp,
    /// Who paused it: a key, a user, an operator, or `system`.
    pub by: ActorId,
    /// Why.
    pub because: Option<String>,
}

/// Why a due time is in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum FireKind {
    /// It came.
    Scheduled,
    /// Somebody asked for it now.
    Trigger,
    /// Somebody asked for those of a past range.
    Backfill,
}

impl FireKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Scheduled, Self::Trigger, Self::Backfill];

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A text names no kind of fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected scheduled, trigger or backfill")]
pub struct ParseFireKindError;

impl FromStr for FireKind {
    type Err = ParseFireKindError;

    fn from_str(text: &str) -> Result<Self, ParseFireKindError> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(ParseFireKindError)
    }
}

/// What became of one due time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FireRecord {
    /// The due time.
    pub due_at: Timestamp,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it is there.
    pub kind: FireKind,
    /// When it was decided.
    pub fired_at: Timestamp,
    /// The task it made.
    pub task: Option<TaskId>,
    /// The workflow run it started.
    pub run: Option<WorkflowRunId>,
    /// The schedule's version then.
    pub version: i64,
    /// More on the outcome, for people.
    pub detail: Option<String>,
}

/// A row as the statements give it.
pub(super) struct ScheduleRow {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub version: i64,
    pub timing: String,
    pub template: String,
    pub overlap: String,
    pub misfire: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub created_by: String,
    pub paused_at: Option<Timestamp>,
    pub paused_by: Option<String>,
    pub paused_because: Option<String>,
    pub due_at: Option<Timestamp>,
    pub fire_at: Option<Timestamp>,
    pub fires: i64,
    pub recent: Vec<Uuid>,
    pub recent_runs: Vec<Uuid>,
    pub awaits: Option<Uuid>,
    pub tzdb: String,
    pub ended_at: Option<Timestamp>,
    pub pause_after_failures: Option<i32>,
    pub failures_in_row: i32,
    pub timing_since: Option<Timestamp>,
    pub has_spans: bool,
}

impl RowCount for ScheduleRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl TryFrom<ScheduleRow> for ScheduleRecord {
    type Error = StoreError;

    fn try_from(row: ScheduleRow) -> Result<Self, StoreError> {
        let id = ScheduleId(row.id);
        Ok(Self {
            tenant: TenantId(row.tenant_id),
            id,
            timing: read_json("timing", id, &row.timing)?,
            template: read_json("template", id, &row.template)?,
            overlap: read_text("overlap", id, &row.overlap)?,
            misfire: read_json("misfire", id, &row.misfire)?,
            name: row.name,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
            created_by: row.created_by.into(),
            paused: row.paused_at.map(|at| Pause {
                at,
                by: row.paused_by.unwrap_or_default().into(),
                because: row.paused_because,
            }),
            next_at: row.due_at,
            next_fire_at: row.fire_at,
            fires: row.fires.unsigned_abs(),
            recent: row.recent.into_iter().map(TaskId).collect(),
            recent_runs: row.recent_runs.into_iter().map(WorkflowRunId).collect(),
            awaits: row.awaits,
            tzdb: row.tzdb,
            ended_at: row.ended_at,
            pause_after_failures: row.pause_after_failures.map(i32::unsigned_abs),
            failures_in_row: row.failures_in_row.unsigned_abs(),
            timing_since: row.timing_since,
            has_spans: row.has_spans,
        })
    }
}

fn malformed(what: &'static str, id: ScheduleId, value: &str) -> StoreError {
    StoreError::Malformed { what, row: id.to_string(), value: value.chars().take(64).collect() }
}

/// Reads a column of JSON text of schedule `id`.
///
/// # Errors
/// When another version wrote it.
pub fn read_json<T: DeserializeOwned>(
    what: &'static str,
    id: ScheduleId,
    text: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| malformed(what, id, text))
}

/// Reads the template of schedule `id`, to make tasks or runs of it.
///
/// # Errors
/// When another version wrote it, or the database would refuse its tasks.
pub fn read_template(id: ScheduleId, text: &str) -> Result<FireTemplate, StoreError> {
    let template: FireTemplate = read_json("template", id, text)?;
    if template.is_in_range() { Ok(template) } else { Err(malformed("template", id, text)) }
}

/// Reads a value that has a name of its own.
pub(crate) fn read_text<T: FromStr>(
    what: &'static str,
    id: ScheduleId,
    text: &str,
) -> Result<T, StoreError> {
    text.parse().map_err(|_| malformed(what, id, text))
}

/// What a column of JSON text holds.
pub(super) fn write_json<T: Serialize>(
    what: &'static str,
    value: &T,
) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Malformed {
        what,
        row: "a new schedule".to_owned(),
        value: error.to_string(),
    })
}

impl ScheduleRecord {
    /// The instant after which its timing gives due times.
    #[must_use]
    pub fn due_after(&self) -> Timestamp {
        self.timing_since.unwrap_or(self.created_at)
    }

    /// What is fired next.
    #[must_use]
    pub fn coming(&self) -> Option<Coming> {
        let (due_at, fire_at) = self.next_at.zip(self.next_fire_at)?;
        Some(Coming { fire_at, due_at })
    }

    /// What the audit shows of one. Not what its task runs, nor the input of its runs: that may hold what only its owner may see.
    pub(super) fn audit_value(&self) -> Value {
        let mut value = json!({
            "version": self.version,
            "timing": self.timing,
            "overlap": self.overlap,
            "misfire": self.misfire,
            "pause_after_failures": self.pause_after_failures,
            "paused": self.paused.is_some(),
        });
        match &self.template {
            FireTemplate::Task(template) => {
                value["task"] = serde_json::to_value(template).unwrap_or_default();
                value["task"]["run"] = Value::from(template.run.driver());
            }
            FireTemplate::Workflow(start) => value["workflow"] = json!({"name": start.workflow}),
        }
        value
    }
}

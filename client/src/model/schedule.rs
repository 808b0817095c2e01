//! Schedules and their fires.

use crate::{NewTask, TaskWarning};
use domain::id::{ScheduleId, TaskId};
use domain::schedule::{Misfire, Overlap, Timing};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A schedule to store. Omitted fields get the server's default.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewSchedule {
    /// Its timing.
    pub timing: Timing,
    /// The task that each fire creates, without `delay` and `run_at`.
    pub task: NewTask,
    /// Overlap policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    /// Misfire policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misfire: Option<Misfire>,
    /// Pause after this many consecutive tasks without success. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_after_failures: Option<u32>,
    /// Whether it is paused. Default: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

impl NewSchedule {
    /// A schedule that creates this task at its due times.
    #[must_use]
    pub const fn new(timing: Timing, task: NewTask) -> Self {
        Self {
            timing,
            task,
            overlap: None,
            misfire: None,
            pause_after_failures: None,
            paused: None,
        }
    }
}

/// A schedule.
#[derive(Debug, Clone, Deserialize)]
pub struct Schedule {
    /// Its id.
    pub id: ScheduleId,
    /// Its name.
    pub name: String,
    /// Version, from 1.
    pub version: i64,
    /// `active`, `paused` or `over`.
    pub state: String,
    /// Timing, as stored.
    pub timing: Value,
    /// Task, as stored.
    pub task: Value,
    /// Overlap policy.
    pub overlap: String,
    /// Misfire policy.
    pub misfire: Value,
    /// Pause after this many consecutive tasks without success.
    pub pause_after_failures: Option<u32>,
    /// Current number of consecutive tasks without success.
    pub failures_in_row: u32,
    /// The pause, if any.
    pub paused: Option<SchedulePaused>,
    /// The next due time.
    pub next_due_at: Option<Timestamp>,
    /// Next due time with jitter.
    pub next_fire_at: Option<Timestamp>,
    /// Due times that created a task, without manual triggers.
    pub fires: u64,
    /// Its latest tasks, finished or not.
    pub recent_tasks: Vec<TaskId>,
    /// Release of the time zone data used for the next due time.
    pub tzdb: String,
    /// The key or sign-in by which it was stored.
    pub created_by: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it finished.
    pub ended_at: Option<Timestamp>,
    /// Warnings, only in the response to a change.
    #[serde(default)]
    pub warnings: Vec<TaskWarning>,
}

/// Pause of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SchedulePaused {
    /// Since when.
    pub at: Timestamp,
    /// Who paused it.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

/// A deleted schedule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DeletedSchedule {
    /// Its name.
    pub name: String,
}

/// A fire: the outcome of one due time.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Fire {
    /// The due time.
    pub due_at: Timestamp,
    /// Outcome, such as `fired` or `paused`.
    pub outcome: String,
    /// `scheduled`, `trigger` or `backfill`.
    pub kind: String,
    /// When it was decided.
    pub fired_at: Timestamp,
    /// The created task.
    pub task: Option<TaskId>,
    /// Version of the schedule at that time.
    pub version: i64,
    /// Details of the outcome.
    pub detail: Option<String>,
}

/// Due times of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SchedulePreview {
    /// The time zone.
    pub zone: String,
    /// Release of the time zone data.
    pub tzdb: String,
    /// The due times, in order.
    pub due: Vec<ScheduleDue>,
    /// Whether there are more.
    pub more: bool,
}

/// When a schedule will be due once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ScheduleDue {
    /// When.
    pub at: Timestamp,
    /// Local time in the zone, with offset.
    pub local: String,
    /// Abbreviation of the zone's time.
    pub abbreviation: String,
    /// `shifted`, `repeated`, `again`, `change_day`.
    pub marks: Vec<String>,
}

/// A past range to fire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackfillRange {
    /// Due times from this one on.
    pub from: Timestamp,
    /// Up to this one, which is not included.
    pub to: Timestamp,
    /// Only say what it would do.
    pub dry_run: bool,
    /// Tasks created per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
}

/// Plan of a backfill.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct BackfillPlan {
    /// Due times of the range.
    pub due: u32,
    /// Due times without a task, which will fire.
    pub to_fire: u32,
    /// The first of these.
    pub first: Option<Timestamp>,
    /// The last of these.
    pub last: Option<Timestamp>,
    /// Tasks created per second.
    pub per_second: f64,
    /// Whether only the plan was returned.
    pub dry_run: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::schedule::{Counting, Spec};
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn only_what_was_given_is_sent_in_the_apis_form() {
        let every = Spec::Every {
            every: Duration::from_secs(90),
            anchor: None,
            counting: Counting::FixedDelay,
        };
        let task = NewTask::noop(Duration::ZERO);
        let schedule = NewSchedule::new(Timing::of(vec![every]), task.clone());
        let mut wanted = json!({"timing": {
                "specs": [{"every": {"every": "1m30s", "counting": "fixed_delay"}}],
                "zone": "UTC", "gap": "next_valid", "repeat": "first"},
            "task": {"run": {"noop": {"sleep": "0s"}}}});
        assert_eq!(serde_json::to_value(&schedule).unwrap(), wanted);
        let misfire =
            Misfire::CatchUp { count: 3, max_age: Duration::from_secs(3600), per_second: Some(2) };
        let schedule = NewSchedule {
            overlap: Some(Overlap::BufferOne),
            misfire: Some(misfire),
            pause_after_failures: Some(3),
            paused: Some(true),
            ..schedule
        };
        wanted["overlap"] = json!("buffer_one");
        wanted["misfire"] = json!({"catch_up": {"count": 3, "max_age": "1h", "per_second": 2}});
        wanted["pause_after_failures"] = json!(3);
        wanted["paused"] = json!(true);
        assert_eq!(serde_json::to_value(&schedule).unwrap(), wanted);
    }
}

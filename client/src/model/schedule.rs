//! A schedule to store, a schedule as the API shows it, and what becomes of its due times.

use crate::{NewTask, TaskWarning};
use domain::id::{ScheduleId, TaskId};
use domain::schedule::{Misfire, Overlap, Timing};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A schedule to store. What is left out takes the server's default.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewSchedule {
    /// When it is due.
    pub timing: Timing,
    /// What each fire makes; without `delay` and `run_at`.
    pub task: NewTask,
    /// What a due time does while an earlier task of the schedule has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    /// What becomes of overdue times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misfire: Option<Misfire>,
    /// Paused when so many of its tasks in a row have not succeeded; never, when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_after_failures: Option<u32>,
    /// Paused or not; as it is, when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

impl NewSchedule {
    /// A schedule that makes this task when it is due.
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
    /// Counts its changes, from 1.
    pub version: i64,
    /// `active`, `paused` or `over`.
    pub state: String,
    /// When it is due, as stored.
    pub timing: Value,
    /// What each fire makes, as stored.
    pub task: Value,
    /// What a due time does while an earlier task has not ended.
    pub overlap: String,
    /// What becomes of overdue times.
    pub misfire: Value,
    /// It is paused when so many of its tasks in a row have not succeeded.
    pub pause_after_failures: Option<u32>,
    /// So many of them have not, in a row.
    pub failures_in_row: u32,
    /// Since when, by whom and why it is paused.
    pub paused: Option<SchedulePaused>,
    /// The next due time.
    pub next_due_at: Option<Timestamp>,
    /// When that fires: with its share of the jitter.
    pub next_fire_at: Option<Timestamp>,
    /// Due times that made a task, those by hand not counted.
    pub fires: u64,
    /// Its latest tasks; some may have ended.
    pub recent_tasks: Vec<TaskId>,
    /// The release of the time zones' data by which the next due time was found.
    pub tzdb: String,
    /// The key or sign-in by which it was stored.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// When it was found to be over.
    pub ended_at: Option<Timestamp>,
    /// What its owner should know of its tasks; only in the answer to a change.
    #[serde(default)]
    pub warnings: Vec<TaskWarning>,
}

/// That a schedule is paused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SchedulePaused {
    /// Since when.
    pub at: Timestamp,
    /// Who paused it.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

/// A schedule that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DeletedSchedule {
    /// Its name.
    pub name: String,
}

/// What became of one due time.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Fire {
    /// The due time.
    pub due_at: Timestamp,
    /// What became of it, such as `fired` or `paused`.
    pub outcome: String,
    /// `scheduled`, `trigger` or `backfill`.
    pub kind: String,
    /// When that was decided.
    pub fired_at: Timestamp,
    /// The task it made.
    pub task: Option<TaskId>,
    /// The schedule's version then.
    pub version: i64,
    /// More on the outcome.
    pub detail: Option<String>,
}

/// When a schedule will be due.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SchedulePreview {
    /// The zone in which it is meant.
    pub zone: String,
    /// The release of the time zones' data.
    pub tzdb: String,
    /// The due times, the first first.
    pub due: Vec<ScheduleDue>,
    /// There are others after these.
    pub more: bool,
}

/// When a schedule will be due once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ScheduleDue {
    /// When.
    pub at: Timestamp,
    /// The same in the zone's time, with its offset.
    pub local: String,
    /// What the zone calls its time then.
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
    /// Tasks made a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
}

/// What a backfill does, or would do.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct BackfillPlan {
    /// Due times of the range.
    pub due: u32,
    /// Those among them that have made no task, and will.
    pub to_fire: u32,
    /// The first of these.
    pub first: Option<Timestamp>,
    /// The last of these.
    pub last: Option<Timestamp>,
    /// Tasks made a second.
    pub per_second: f64,
    /// Nothing was begun.
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

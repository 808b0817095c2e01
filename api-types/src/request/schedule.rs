//! Schedules to store and to preview, and actions on them.

use super::{Given, NewTask, Timing};
use domain::schedule::Overlap;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A schedule to store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `timing` and `task` or `workflow`")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = SchedulePut, example = json!({
    "timing": {"specs": [{"cron": "30 2 * * *"}], "zone": "America/New_York"},
    "task": {"name": "report", "run": {"command": {"argv": ["bash", "-c", "echo hi"]}}}})))]
pub struct NewSchedule {
    /// Its timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false))]
    pub timing: Option<Timing>,
    /// The task that each fire creates, as for `POST /v1/tasks`, without `delay` and `run_at`. Exactly one of `task` and `workflow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub task: Option<NewTask>,
    /// The workflow of which each fire starts a run. Exactly one of `task` and `workflow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub workflow: Option<ScheduleWorkflow>,
    /// Overlap policy: what a due time does while an earlier task or run is unfinished. Default: `skip`. With `workflow` not `buffer_one`
    /// and `buffer_all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Overlap>))]
    pub overlap: Option<Overlap>,
    /// Misfire policy of overdue times. Default: `fire_now` for a timing that fires once, else `fire_next_soon`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misfire: Option<Misfire>,
    /// Pause after this many consecutive tasks or runs end `failed`, `aborted`, `killed` or `expired`. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub pause_after_failures: Option<u32>,
    /// Whether it is paused. Default: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

impl NewSchedule {
    /// A schedule that creates this task at its due times.
    #[must_use]
    pub fn new(timing: impl Into<Timing>, task: NewTask) -> Self {
        Self { timing: Some(timing.into()), task: Some(task), ..Self::default() }
    }

    /// A schedule that starts a run of this workflow at its due times.
    #[must_use]
    pub fn of_workflow(timing: impl Into<Timing>, workflow: ScheduleWorkflow) -> Self {
        Self { timing: Some(timing.into()), workflow: Some(workflow), ..Self::default() }
    }
}

/// A workflow of which each fire of a schedule starts a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `name`")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleWorkflow {
    /// Name of a stored workflow. Each fire starts a run of its version at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false))]
    pub name: Option<String>,
    /// Input of the runs: any JSON, at most 256 KiB. Default: null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// Misfire policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Misfire {
    /// Each fires now.
    FireNow,
    /// They become one that fires now.
    FireNextSoon,
    /// None fires.
    Skip,
    /// The newest of them fire.
    CatchUp(CatchUp),
}

/// Which overdue times fire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"count\": 10, \"max_age\": \"24h\"}")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CatchUp {
    /// Number of the newest due times.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(required, nullable = false, minimum = 1, maximum = 1000)
    )]
    pub count: Option<u32>,
    /// Largest age of a due time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required, nullable = false))]
    pub max_age: Option<Given<Duration>>,
    /// Fires per second. Default: all at once. Not with `workflow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub per_second: Option<u32>,
}

impl From<domain::schedule::Misfire> for Misfire {
    fn from(misfire: domain::schedule::Misfire) -> Self {
        match misfire {
            domain::schedule::Misfire::FireNow => Self::FireNow,
            domain::schedule::Misfire::FireNextSoon => Self::FireNextSoon,
            domain::schedule::Misfire::Skip => Self::Skip,
            domain::schedule::Misfire::CatchUp { count, max_age, per_second } => {
                let (count, max_age) = (Some(count), Some(max_age.into()));
                Self::CatchUp(CatchUp { count, max_age, per_second })
            }
        }
    }
}

/// A timing to preview.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SchedulePreviewAsk {
    /// Its timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false))]
    pub timing: Option<Timing>,
    /// Number of due times. Default: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 999))]
    pub count: Option<usize>,
    /// After this time (RFC 3339). Default: now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub from: Option<Given<Timestamp>>,
}

/// Why.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SchedulePause {
    /// Reason, shown with the schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 500))]
    pub reason: Option<String>,
}

/// A range to fire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleBackfill {
    /// Start, inclusive (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required, nullable = false, format = DateTime))]
    pub from: Option<Given<Timestamp>>,
    /// End, exclusive; not in the future.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required, nullable = false, format = DateTime))]
    pub to: Option<Given<Timestamp>>,
    /// Only return the plan. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Tasks created or runs started per second, 0.001 to 1000. Default: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.001, maximum = 1000.0))]
    pub per_second: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::schedule::{Counting, Spec};
    use serde_json::json;

    #[test]
    fn only_what_was_given_is_sent() {
        let every = Spec::Every {
            every: Duration::from_secs(90),
            anchor: None,
            counting: Counting::FixedDelay,
        };
        let timing = domain::schedule::Timing::of(vec![every]);
        let schedule = NewSchedule::new(timing, NewTask::noop(Duration::ZERO));
        let mut wanted = json!({"timing": {
                "specs": [{"every": {"every": "1m30s", "counting": "fixed_delay"}}],
                "zone": "UTC", "gap": "next_valid", "repeat": "first"},
            "task": {"run": {"noop": {"sleep": "0s"}}}});
        assert_eq!(serde_json::to_value(&schedule).unwrap(), wanted);
        let max_age = Duration::from_secs(3600);
        let misfire = domain::schedule::Misfire::CatchUp { count: 3, max_age, per_second: Some(2) };
        let schedule = NewSchedule {
            overlap: Some(Overlap::BufferOne),
            misfire: Some(misfire.into()),
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

    #[test]
    fn a_workflow_is_named_with_its_input() {
        let timing = domain::schedule::Timing::of(vec![Spec::Cron("@daily".to_owned())]);
        let workflow =
            ScheduleWorkflow { name: Some("nightly".to_owned()), input: Some(json!({"a": 1})) };
        let schedule = serde_json::to_value(NewSchedule::of_workflow(timing, workflow)).unwrap();
        assert_eq!(schedule["workflow"], json!({"name": "nightly", "input": {"a": 1}}));
        assert_eq!(schedule.get("task"), None);
        let unknown = json!({"name": "nightly", "version": 3});
        assert!(serde_json::from_value::<ScheduleWorkflow>(unknown).is_err());
    }
}

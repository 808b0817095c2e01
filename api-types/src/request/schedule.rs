//! Schedules to store and to preview, and actions on them.

use super::{Given, NewTask, Timing};
use domain::schedule::Overlap;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A schedule to store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `timing` and `task`")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = SchedulePut, example = json!({
    "timing": {"specs": [{"cron": "30 2 * * *"}], "zone": "America/New_York"},
    "task": {"name": "report", "run": {"command": {"argv": ["bash", "-c", "echo hi"]}}}})))]
pub struct NewSchedule {
    /// Its timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false))]
    pub timing: Option<Timing>,
    /// The task that each fire creates, as for `POST /v1/tasks`, without `delay` and `run_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false))]
    pub task: Option<NewTask>,
    /// Overlap policy: what a due time does while an earlier task is unfinished. Default: `skip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Overlap>))]
    pub overlap: Option<Overlap>,
    /// Misfire policy of overdue times. Default: `fire_now` for a timing that fires once, else `fire_next_soon`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misfire: Option<Misfire>,
    /// Pause after this many consecutive tasks end `failed`, `aborted`, `killed` or `expired`. Default: never.
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
    /// Fires per second. Default: all at once.
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
    /// Tasks created per second, 0.001 to 1000. Default: 10.
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
}

//! Schedules to store.

use crate::NewTask;
use domain::schedule::{Misfire, Overlap, Timing};
use serde::Serialize;

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

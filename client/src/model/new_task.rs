//! A task to submit. Omitted fields get the server's default.

use domain::batch::Priority;
use domain::resources::{Resources, Tier};
use domain::task::{CommandRun, Delivery, NoopRun, RetryPolicy, Run};
use domain::time::{Timestamp, format_duration};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// A task to submit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewTask {
    /// What it runs.
    pub run: Run,
    /// Name; need not be unique.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Resources, instead of a tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Delay from the submit.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "duration")]
    pub delay: Option<Duration>,
    /// Due time, instead of a delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_at: Option<Timestamp>,
    /// How long after its due time it may start.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "duration")]
    pub delay_tolerance: Option<Duration>,
    /// Longest run time of one attempt.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "duration")]
    pub execution_cap: Option<Duration>,
    /// End as `expired` if not started in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_if_late: Option<bool>,
    /// Priority within the tenant: each level shifts the start deadline by a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Run only in spare room until the last tenth of the delay tolerance. Default: that of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flexible: Option<bool>,
    /// Concurrency key: one task of the tenant with it runs at a time, or as many as its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    /// Maximum of charged attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Retry policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// After a lost attempt: run again or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Pool of executors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Unique among the tenant's unfinished tasks; a conflict returns the existing task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<String>,
    /// Labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl NewTask {
    /// A task that runs a program with its arguments, without a shell.
    pub fn command<A: Into<String>>(argv: impl IntoIterator<Item = A>) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        Self::new(Run::Command(CommandRun { argv, env: BTreeMap::new(), stdin: None }))
    }

    /// A task that does nothing for some time.
    #[must_use]
    pub fn noop(sleep: Duration) -> Self {
        Self::new(Run::Noop(NoopRun { sleep }))
    }

    /// A task of any kind.
    #[must_use]
    pub fn new(run: Run) -> Self {
        Self {
            run,
            name: None,
            tier: None,
            resources: None,
            delay: None,
            run_at: None,
            delay_tolerance: None,
            execution_cap: None,
            expire_if_late: None,
            priority: None,
            flexible: None,
            concurrency_key: None,
            max_attempts: None,
            retry: None,
            delivery: None,
            pool: None,
            unique_key: None,
            labels: BTreeMap::new(),
        }
    }
}

fn duration<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    duration.map(format_duration).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_was_given_is_sent() {
        let task = NewTask::command(["echo", "hi"]);
        assert_eq!(
            serde_json::to_value(task).unwrap(),
            json!({"run": {"command": {"argv": ["echo", "hi"]}}})
        );
    }

    #[test]
    fn every_field_has_the_apis_name_and_form() {
        let task = NewTask {
            name: Some("n".to_owned()),
            tier: Some(Tier::Premium),
            delay: Some(Duration::from_secs(90)),
            run_at: "2030-01-31T12:00:00Z".parse().ok(),
            delay_tolerance: Some(Duration::from_millis(250)),
            execution_cap: Some(Duration::from_secs(3600)),
            expire_if_late: Some(true),
            priority: Priority::new(-3),
            flexible: Some(false),
            concurrency_key: Some("c".to_owned()),
            max_attempts: Some(3),
            delivery: Some(Delivery::AtMostOnce),
            pool: Some("eu".to_owned()),
            unique_key: Some("u".to_owned()),
            labels: BTreeMap::from([("team".to_owned(), "media".to_owned())]),
            ..NewTask::noop(Duration::from_secs(5))
        };
        assert_eq!(
            serde_json::to_value(task).unwrap(),
            json!({"run": {"noop": {"sleep": "5s"}}, "name": "n", "tier": "premium", "delay": "1m30s",
                "run_at": "2030-01-31T12:00:00Z", "delay_tolerance": "250ms", "execution_cap": "1h",
                "expire_if_late": true, "priority": -3, "flexible": false, "concurrency_key": "c", "max_attempts": 3, "delivery": "at_most_once", "pool": "eu",
                "unique_key": "u", "labels": {"team": "media"}})
        );
    }
}

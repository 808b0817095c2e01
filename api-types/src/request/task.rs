//! Tasks to submit.

use super::{CommandRun, Dependency, Given, NoopRun, Pairs, Run};
use domain::batch::{ConcurrencyKey, Priority};
use domain::dependency::Join;
use domain::id::PoolName;
use domain::resources::Tier;
use domain::task::{Backoff, Delivery, RetryOn, RetryPolicy};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A task to submit. All fields except `run` are optional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = TaskSubmit, example = json!({"name": "resize", "tier": "basic",
    "run": {"command": {"argv": ["bash", "-c", "echo hi"], "env": {"A": "1"}}},
    "delay": "10s", "delay_tolerance": "5m", "execution_cap": "60s", "max_attempts": 3, "labels": {"team": "media"}})))]
pub struct NewTask {
    /// Name; need not be unique.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub name: Option<String>,
    /// Tier, see the schema `Tier`. Default without `resources`: `basic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Tier>))]
    pub tier: Option<Tier>,
    /// Resources, instead of a tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// What it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false))]
    pub run: Option<Run>,
    /// Delay from now, such as `"10s"`. Default without `run_at`: due at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub delay: Option<Given<Duration>>,
    /// Due time, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub run_at: Option<Given<Timestamp>>,
    /// How long after its due time it may start.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub delay_tolerance: Option<Given<Duration>>,
    /// Longest run time of one attempt; then it is killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub execution_cap: Option<Given<Duration>>,
    /// End as `expired` if not started in time. Default: false. Needs a `delay_tolerance` above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_if_late: Option<bool>,
    /// Priority among your tasks: shifts the start deadline by this many minutes; positive is earlier. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i32>, minimum = -10, maximum = 10))]
    pub priority: Option<Given<Priority>>,
    /// Run only in spare room until the last tenth of `delay_tolerance`. Default: that of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flexible: Option<bool>,
    /// Maximum of charged attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub max_attempts: Option<u32>,
    /// Retry policy, within `max_attempts`. Each field has its own default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// After a lost attempt: run again or not. Default: `at_least_once`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Delivery>))]
    pub delivery: Option<Delivery>,
    /// Pool of executors. Default: `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub pool: Option<Given<PoolName>>,
    /// Concurrency key: one of your tasks with it runs at a time, or as many as `PUT /v1/concurrency-limits/{key}`
    /// allows. Not `.` or `..`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, min_length = 1, max_length = 200))]
    pub concurrency_key: Option<Given<ConcurrencyKey>>,
    /// Unique among your unfinished tasks; a conflict returns the existing task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub unique_key: Option<String>,
    /// Up to 32 labels; keys are 1 to 63 of `a-z A-Z 0-9 _ . -`, values up to 200 characters. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Labels>))]
    pub labels: Option<Pairs>,
    /// Name of the task in `depends_on` of other tasks of the same batch: 1 to 100 of `a-z A-Z 0-9 _ . -`, not like `task_…`. It is not
    /// stored.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 100))]
    pub reference: Option<String>,
    /// Tasks that must end first, up to 1000. Its delay counts from when enough of them have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<crate::openapi::words::Dependency>>, max_items = 1000))]
    pub depends_on: Option<Vec<Given<Dependency>>>,
    /// How many of `depends_on` must end as asked: `all`, `any`, or `{"at_least": n}`. If too few can, the task ends as `skipped`.
    /// Default: `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Join>))]
    pub join: Option<Join>,
}

impl NewTask {
    /// A task that runs a program with its arguments, without a shell.
    pub fn command<A: Into<String>>(argv: impl IntoIterator<Item = A>) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        let command = CommandRun { argv: Some(argv), ..CommandRun::default() };
        Self::new(Run { command: Some(command), ..Run::default() })
    }

    /// A task that does nothing for some time.
    #[must_use]
    pub fn noop(sleep: Duration) -> Self {
        let noop = NoopRun { sleep: Some(sleep.into()) };
        Self::new(Run { noop: Some(noop), ..Run::default() })
    }

    /// A task of any kind.
    #[must_use]
    pub fn new(run: impl Into<Run>) -> Self {
        Self { run: Some(run.into()), ..Self::default() }
    }
}

/// Resources of a task. `cpu_millis` and `memory_mib` must be at least 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Resources {
    /// Thousandths of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false))]
    pub cpu_millis: Option<u32>,
    /// Memory in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false))]
    pub memory_mib: Option<u32>,
    /// Disk in MiB. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_mib: Option<u32>,
    /// Disk operations per second. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<u32>,
    /// TCP ports, at most 64512. Default: 0. The first and their number are in `BERTH_PORT_FIRST` and `BERTH_PORT_COUNT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<u32>,
}

impl From<domain::resources::Resources> for Resources {
    fn from(resources: domain::resources::Resources) -> Self {
        let [cpu_millis, memory_mib, disk_mib, iops, ports] = resources.dimensions().map(Some);
        Self { cpu_millis, memory_mib, disk_mib, iops, ports }
    }
}

/// Retry policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Retry {
    /// Back-off. Default: `exponential`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Backoff>))]
    pub backoff: Option<Backoff>,
    /// First wait. Default: `"1s"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub initial: Option<Given<Duration>>,
    /// Factor of `exponential`. Default: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1.0, maximum = 100.0))]
    pub factor: Option<f64>,
    /// Longest wait. Default: `"5m"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub max: Option<Given<Duration>>,
    /// Full jitter: the wait is random from 0 to the back-off. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<bool>,
    /// Exit codes, or HTTP statuses, that end the task `aborted` without a retry. 128 + N stands for signal N: 139 also
    /// matches signal 11. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abort_on_exit_codes: Option<Vec<i32>>,
    /// Results that are retried: `failure` (it failed by itself), `cap` (killed over `execution_cap`), `resources`
    /// (killed over its resources). Default: `["failure"]`. Without a retry the task ends `failed` after a failure and
    /// `killed` after a kill. For an attempt lost with its executor, see `delivery`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<crate::openapi::words::RetryOn>>))]
    pub on: Option<Vec<RetryOn>>,
}

impl From<RetryPolicy> for Retry {
    fn from(policy: RetryPolicy) -> Self {
        let RetryPolicy { backoff, initial, factor, max, jitter, abort_on_exit_codes, on } = policy;
        Self {
            backoff: Some(backoff),
            initial: Some(initial.into()),
            factor: Some(factor),
            max: Some(max.into()),
            jitter: Some(jitter),
            abort_on_exit_codes: Some(abort_on_exit_codes),
            on: Some(on.into_iter().collect()),
        }
    }
}

/// Many tasks to submit.
// Each is a reference to a task where it is written, and its JSON where it is read, because each is checked by itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskBatch<T = NewTask> {
    /// The tasks, 1 to 10 000.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<NewTask>))]
    pub tasks: Vec<T>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_was_given_is_sent() {
        let task = NewTask::command(["echo", "hi"]);
        let wanted = json!({"run": {"command": {"argv": ["echo", "hi"]}}});
        assert_eq!(serde_json::to_value(task).unwrap(), wanted);
        let batch = TaskBatch { tasks: vec![NewTask::noop(Duration::ZERO)] };
        let wanted = json!({"tasks": [{"run": {"noop": {"sleep": "0s"}}}]});
        assert_eq!(serde_json::to_value(batch).unwrap(), wanted);
    }

    #[test]
    fn every_field_reads_back_as_written() {
        let second = Some(Duration::from_secs(1).into());
        let run_at: Option<Timestamp> = "2030-01-31T12:00:00Z".parse().ok();
        let task = NewTask {
            name: Some("n".to_owned()),
            tier: Some(Tier::Premium),
            resources: Some(Tier::Premium.resources().into()),
            delay: Some(Duration::from_secs(90).into()),
            run_at: run_at.map(Given::from),
            delay_tolerance: second.clone(),
            execution_cap: second,
            expire_if_late: Some(true),
            priority: Priority::new(-3).map(Given::from),
            flexible: Some(false),
            max_attempts: Some(3),
            retry: Some(RetryPolicy::default().into()),
            delivery: Some(Delivery::AtMostOnce),
            pool: Some(PoolName::default().into()),
            concurrency_key: "c".parse::<ConcurrencyKey>().ok().map(Given::from),
            unique_key: Some("u".to_owned()),
            labels: Pairs::some([("team".to_owned(), "media".to_owned())].into()),
            ..NewTask::noop(Duration::from_secs(5))
        };
        let sent = serde_json::to_value(&task).unwrap();
        let wanted = json!({"run": {"noop": {"sleep": "5s"}}, "name": "n", "tier": "premium",
            "resources": {"cpu_millis": 4000, "memory_mib": 8192, "disk_mib": 20480, "iops": 1000, "ports": 4},
            "delay": "1m30s", "run_at": "2030-01-31T12:00:00Z", "delay_tolerance": "1s", "execution_cap": "1s",
            "expire_if_late": true, "priority": -3, "flexible": false, "concurrency_key": "c", "max_attempts": 3,
            "retry": {"backoff": "exponential", "initial": "1s", "factor": 2.0, "max": "5m", "jitter": true,
                "abort_on_exit_codes": [], "on": ["failure"]},
            "delivery": "at_most_once", "pool": "default", "unique_key": "u", "labels": {"team": "media"}});
        assert_eq!(sent, wanted);
        assert_eq!(serde_json::from_value::<NewTask>(sent).unwrap(), task);
    }

    #[test]
    fn a_stored_run_is_written_as_it_is_stored() {
        for run in [
            json!({"command": {"argv": ["a"], "env": {"A": "1"}, "stdin": "x"}}),
            json!({"http": {"method": "POST", "url": "https://a/", "headers": {"A": "1"}, "body": "x", "success": "2xx,404",
                "timeout": "5s"}}),
            json!({"noop": {"sleep": "1m30s"}}),
        ] {
            let stored: domain::task::Run = serde_json::from_value(run.clone()).unwrap();
            assert_eq!(serde_json::to_value(Run::from(stored)).unwrap(), run);
        }
    }
}

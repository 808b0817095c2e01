//! What a client may send as a task, field by field.
//!
//! Read by `json::parse`, checked by `check`, and shown in the OpenAPI document: one type for all three.
//! Texts that have a form of their own stay texts here, so that several mistakes can be told at once.

use domain::resources::Tier;
use domain::task::{Backoff, Delivery, RetryOn};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use utoipa::ToSchema;

/// A task to submit. All fields except `run` are optional.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TaskSubmit, example = json!({"name": "resize", "tier": "basic",
    "run": {"command": {"argv": ["bash", "-c", "echo hi"], "env": {"A": "1"}}},
    "delay": "10s", "delay_tolerance": "5m", "execution_cap": "60s", "max_attempts": 3, "labels": {"team": "media"}}))]
pub struct TaskSpec {
    /// Name; need not be unique.
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// Tier, see the schema `Tier`. Default without `resources`: `basic`.
    #[schema(value_type = Option<super::super::openapi::words::Tier>)]
    pub tier: Option<Tier>,
    /// Resources, instead of a tier.
    pub resources: Option<ResourcesSpec>,
    /// What it runs.
    #[schema(required, nullable = false)]
    pub run: Option<RunSpec>,
    /// Delay from now, such as `"10s"`. Default without `run_at`: due at once.
    pub delay: Option<String>,
    /// Due time, RFC 3339.
    #[schema(format = DateTime)]
    pub run_at: Option<String>,
    /// How long after its due time it may start.
    pub delay_tolerance: Option<String>,
    /// Longest run time of one attempt; then it is killed.
    pub execution_cap: Option<String>,
    /// End as `expired` if not started in time. Default: false. Needs a `delay_tolerance` above 0.
    pub expire_if_late: Option<bool>,
    /// Priority among your tasks: shifts the start deadline by this many minutes; positive is earlier. Default: 0.
    #[schema(minimum = -10, maximum = 10)]
    pub priority: Option<i32>,
    /// Run only in spare room until the last tenth of `delay_tolerance`. Default: that of the plan.
    pub flexible: Option<bool>,
    /// Maximum of charged attempts.
    #[schema(minimum = 1)]
    pub max_attempts: Option<u32>,
    /// Retry policy, within `max_attempts`. Each field has its own default.
    pub retry: Option<RetrySpec>,
    /// After a lost attempt: run again or not. Default: `at_least_once`.
    #[schema(value_type = Option<super::super::openapi::words::Delivery>)]
    pub delivery: Option<Delivery>,
    /// Pool of executors. Default: `default`.
    pub pool: Option<String>,
    /// Concurrency key: one of your tasks with it runs at a time, or as many as `PUT /v1/concurrency-limits/{key}`
    /// allows. Not `.` or `..`.
    #[schema(min_length = 1, max_length = 200)]
    pub concurrency_key: Option<String>,
    /// Unique among your unfinished tasks; a conflict returns the existing task.
    #[schema(min_length = 1, max_length = 200)]
    pub unique_key: Option<String>,
    /// Up to 32 labels; keys are 1 to 63 of `a-z A-Z 0-9 _ . -`, values up to 200 characters. Default: none.
    #[schema(value_type = Option<super::super::openapi::words::Labels>)]
    pub labels: Option<Pairs>,
    /// Not available yet: must be empty or omitted.
    #[schema(value_type = Option<Vec<String>>, max_items = 0)]
    pub depends_on: Option<Vec<IgnoredAny>>,
}

/// Resources of a task. `cpu_millis` and `memory_mib` must be at least 1.
#[derive(Debug, Default, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Resources)]
pub struct ResourcesSpec {
    /// Thousandths of a core.
    #[schema(required, nullable = false)]
    pub cpu_millis: Option<u32>,
    /// Memory in MiB.
    #[schema(required, nullable = false)]
    pub memory_mib: Option<u32>,
    /// Disk in MiB. Default: 0.
    pub disk_mib: Option<u32>,
    /// Disk operations per second. Default: 0.
    pub iops: Option<u32>,
    /// TCP ports, at most 64512. Default: 0. The first and their number are in `BERTH_PORT_FIRST` and `BERTH_PORT_COUNT`.
    pub ports: Option<u32>,
}

/// The driver and its arguments: exactly one of these.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Run)]
pub struct RunSpec {
    /// Starts a program.
    pub command: Option<CommandSpec>,
    /// Calls a URL.
    pub http: Option<HttpSpec>,
    /// Does nothing for some time.
    pub noop: Option<NoopSpec>,
}

/// A program to start, without a shell.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CommandRun)]
pub struct CommandSpec {
    /// Program and arguments, each at most 131071 bytes (system limit).
    #[schema(min_items = 1, required, nullable = false)]
    pub argv: Option<Vec<String>>,
    /// Environment; nothing is inherited. Berth adds `BERTH_TASK_ID`, `BERTH_ATTEMPT`, `BERTH_DUE_AT` (due time, RFC
    /// 3339), `BERTH_SCHEDULE` (for a task of a schedule), `TRACEPARENT`, `BERTH_PORT_FIRST` and `BERTH_PORT_COUNT`
    /// (with ports), and, unless given, `PATH` and `HOME` (work directory). `NAME=value` has at most 131071 bytes.
    /// Default: empty.
    #[schema(value_type = Option<super::super::openapi::words::Environment>)]
    pub env: Option<Pairs>,
    /// What it reads on standard input.
    pub stdin: Option<String>,
}

/// A URL to call. Berth adds the headers `Berth-Task-Id`, `Berth-Attempt`, `Berth-Due-At` (due time, RFC 3339),
/// `Berth-Schedule` (for a task of a schedule), `Idempotency-Key` (the task's id) and `traceparent`. Up to 5 redirects
/// are followed. Addresses that are not public are refused unless the pool allows them. `exit_code` and output of the
/// attempt are the status and body of the response.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = HttpRun)]
pub struct HttpSpec {
    /// Method. Default: `POST` with a body, else `GET`.
    #[schema(value_type = Option<super::super::openapi::words::HttpMethod>)]
    pub method: Option<String>,
    /// URL: http or https, without user name and password.
    #[schema(required, nullable = false, max_length = 2048, example = "https://example.com/hook")]
    pub url: Option<String>,
    /// Request headers, at most 64, without those that frame the message (`Host`, `Content-Length`) and those that
    /// Berth adds. Default: none.
    #[schema(value_type = Option<super::super::openapi::words::HttpHeaders>)]
    pub headers: Option<Pairs>,
    /// Request body, as text.
    pub body: Option<String>,
    /// Request body in base64, instead of `body`.
    #[schema(content_encoding = "base64")]
    pub body_base64: Option<String>,
    /// Statuses of success, such as `"2xx"`, `"200,204"` or `"200-299"`. Default: `"2xx"`. A listed redirect is not followed.
    pub success: Option<String>,
    /// Timeout of the whole exchange, such as `"30s"`; then the attempt fails. The execution cap applies too.
    pub timeout: Option<String>,
}

/// A task that does nothing for some time.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NoopRun)]
pub struct NoopSpec {
    /// Duration. Default: `"0s"`.
    pub sleep: Option<String>,
}

/// Retry policy.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Retry)]
pub struct RetrySpec {
    /// Back-off. Default: `exponential`.
    #[schema(value_type = Option<super::super::openapi::words::Backoff>)]
    pub backoff: Option<Backoff>,
    /// First wait. Default: `"1s"`.
    pub initial: Option<String>,
    /// Factor of `exponential`. Default: 2.
    #[schema(minimum = 1.0, maximum = 100.0)]
    pub factor: Option<f64>,
    /// Longest wait. Default: `"5m"`.
    pub max: Option<String>,
    /// Full jitter: the wait is random from 0 to the back-off. Default: true.
    pub jitter: Option<bool>,
    /// Exit codes, or HTTP statuses, that end the task `aborted` without a retry. 128 + N stands for signal N: 139 also
    /// matches signal 11. Default: none.
    pub abort_on_exit_codes: Option<Vec<i32>>,
    /// Results that are retried: `failure` (it failed by itself), `cap` (killed over `execution_cap`), `resources`
    /// (killed over its resources). Default: `["failure"]`. Without a retry the task ends `failed` after a failure and
    /// `killed` after a kill. For an attempt lost with its executor, see `delivery`.
    #[schema(value_type = Option<Vec<super::super::openapi::words::RetryOn>>)]
    pub on: Option<Vec<RetryOn>>,
}

/// An object of texts, as given: doubled keys are still there, to be refused by name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Pairs(pub Vec<(String, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}

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

/// A task to submit. Everything but `run` has a default.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TaskSubmit, example = json!({"name": "resize", "tier": "basic",
    "run": {"command": {"argv": ["bash", "-c", "echo hi"], "env": {"A": "1"}}},
    "delay": "10s", "delay_tolerance": "5m", "execution_cap": "60s", "max_attempts": 3, "labels": {"team": "media"}}))]
pub struct TaskSpec {
    /// What you call it; need not be unique.
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// A name for a resource vector, whose sizes the schema `Tier` says; `basic` when neither this nor `resources` is given.
    #[schema(value_type = Option<super::super::openapi::words::Tier>)]
    pub tier: Option<Tier>,
    /// What it needs, instead of a tier.
    pub resources: Option<ResourcesSpec>,
    /// What it runs.
    #[schema(required, nullable = false)]
    pub run: Option<RunSpec>,
    /// How long from now it becomes due, such as `"10s"`. At once when neither this nor `run_at` is given.
    pub delay: Option<String>,
    /// When it becomes due, RFC 3339.
    #[schema(format = DateTime)]
    pub run_at: Option<String>,
    /// How long after it became due it may start and still be on time.
    pub delay_tolerance: Option<String>,
    /// The longest one attempt may run; then it is killed.
    pub execution_cap: Option<String>,
    /// End as `expired` when it could not start in time; false when left out. Needs a `delay_tolerance` above 0.
    pub expire_if_late: Option<bool>,
    /// 0 when left out. It goes before others of yours as if it had to start that many minutes earlier; below 0, later.
    #[schema(minimum = -10, maximum = 10)]
    pub priority: Option<i32>,
    /// Run only where room is spare, until the last tenth of `delay_tolerance`. As the plan says when left out.
    pub flexible: Option<bool>,
    /// Attempts that count, at most.
    #[schema(minimum = 1)]
    pub max_attempts: Option<u32>,
    /// What to do when an attempt fails, as far as `max_attempts` allows another; each field has a default of its own.
    pub retry: Option<RetrySpec>,
    /// What a lost attempt means; `at_least_once` when left out.
    #[schema(value_type = Option<super::super::openapi::words::Delivery>)]
    pub delivery: Option<Delivery>,
    /// Group of executors it runs on; `default` when left out.
    pub pool: Option<String>,
    /// Of your tasks with this key one runs at a time, or as many as `PUT /v1/concurrency-limits/{key}` says. Not `.` or `..`.
    #[schema(min_length = 1, max_length = 200)]
    pub concurrency_key: Option<String>,
    /// Unique among your tasks that have not ended; a conflict answers with the one that exists.
    #[schema(min_length = 1, max_length = 200)]
    pub unique_key: Option<String>,
    /// Up to 32 labels to find it by; keys are 1 to 63 of `a-z A-Z 0-9 _ . -`, values up to 200 characters. None when
    /// left out.
    #[schema(value_type = Option<super::super::openapi::words::Labels>)]
    pub labels: Option<Pairs>,
    /// Not available yet: must be empty or left out.
    #[schema(value_type = Option<Vec<String>>, max_items = 0)]
    pub depends_on: Option<Vec<IgnoredAny>>,
}

/// What a task needs. `cpu_millis` and `memory_mib` must be at least 1.
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
    /// Disk in MiB; 0 when left out.
    pub disk_mib: Option<u32>,
    /// Disk operations per second; 0 when left out.
    pub iops: Option<u32>,
    /// TCP ports, at most 64512; 0 when left out. The first and their number are in `BERTH_PORT_FIRST` and `BERTH_PORT_COUNT`.
    pub ports: Option<u32>,
}

/// The driver and what it is given: exactly one of these.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Run)]
pub struct RunSpec {
    /// Starts a program.
    pub command: Option<CommandSpec>,
    /// Calls a URL.
    pub http: Option<HttpSpec>,
    /// Does nothing, for a while.
    pub noop: Option<NoopSpec>,
}

/// A program to start. No shell is involved unless `argv` names one.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CommandRun)]
pub struct CommandSpec {
    /// Program and arguments; each at most 131071 bytes, as the system takes no more.
    #[schema(min_items = 1, required, nullable = false)]
    pub argv: Option<Vec<String>>,
    /// The whole environment: nothing is inherited. Added are `BERTH_TASK_ID`, `BERTH_ATTEMPT`, `BERTH_DUE_AT` (the due time it is for,
    /// RFC 3339), `BERTH_SCHEDULE` (where a schedule made it), `TRACEPARENT`, `BERTH_PORT_FIRST` and `BERTH_PORT_COUNT` (where it has ports);
    /// and, unless given here, `PATH` and `HOME` (its work folder). `NAME=value` has at most 131071 bytes.
    /// Empty when left out.
    #[schema(value_type = Option<super::super::openapi::words::Environment>)]
    pub env: Option<Pairs>,
    /// What it reads on standard input.
    pub stdin: Option<String>,
}

/// A URL to call. Sent besides the headers given: `Berth-Task-Id`, `Berth-Attempt`, `Berth-Due-At` (the due time it is for, RFC 3339),
/// `Berth-Schedule` (where a schedule made it), `Idempotency-Key` (the task's id) and `traceparent`. Up to 5 redirects are followed; addresses that are not public are refused unless the pool
/// allows them. `exit_code` of the attempt is the status of the answer, its output the answer's body.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = HttpRun)]
pub struct HttpSpec {
    /// How it is called; `POST` when there is a body, else `GET`, when left out.
    #[schema(value_type = Option<super::super::openapi::words::HttpMethod>)]
    pub method: Option<String>,
    /// What is called: http or https, without user name and password.
    #[schema(required, nullable = false, max_length = 2048, example = "https://example.com/hook")]
    pub url: Option<String>,
    /// Sent as they are, at most 64. Not `Host`, `Content-Length` and others that frame the message, nor those that Berth sends. None
    /// when left out.
    #[schema(value_type = Option<super::super::openapi::words::HttpHeaders>)]
    pub headers: Option<Pairs>,
    /// What is sent, as text.
    pub body: Option<String>,
    /// What is sent, in base64, instead of `body`.
    #[schema(content_encoding = "base64")]
    pub body_base64: Option<String>,
    /// Which statuses are a success, such as `"2xx"`, `"200,204"` or `"200-299"`; `"2xx"` when left out. A redirect
    /// that is listed is not followed.
    pub success: Option<String>,
    /// The longest the whole exchange may take, such as `"30s"`; then the attempt failed. The execution cap holds besides.
    pub timeout: Option<String>,
}

/// Nothing, for a while.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NoopRun)]
pub struct NoopSpec {
    /// How long; `"0s"` when left out.
    pub sleep: Option<String>,
}

/// What to do when an attempt fails.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Retry)]
pub struct RetrySpec {
    /// How the wait grows; `exponential` when left out.
    #[schema(value_type = Option<super::super::openapi::words::Backoff>)]
    pub backoff: Option<Backoff>,
    /// The first wait; `"1s"` when left out.
    pub initial: Option<String>,
    /// Growth of `exponential`; 2 when left out.
    #[schema(minimum = 1.0, maximum = 100.0)]
    pub factor: Option<f64>,
    /// The longest wait; `"5m"` when left out.
    pub max: Option<String>,
    /// Spread the wait evenly from 0 to the back-off; true when left out.
    pub jitter: Option<bool>,
    /// Exit codes, or statuses of an HTTP task's answer, after which there is no other attempt: the task ends `aborted`. As in shells
    /// 128 + N stands for signal N: 139 also means a command that ended by signal 11. None when left out.
    pub abort_on_exit_codes: Option<Vec<i32>>,
    /// Ends of an attempt after which there is another: `failure` (it failed by itself), `cap` (killed over `execution_cap`), `resources`
    /// (killed over its resources). `["failure"]` when left out. Without another attempt the task ends `failed` after a failure, and
    /// `killed` after a kill. An attempt lost with its executor is no end: `delivery` says what follows.
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

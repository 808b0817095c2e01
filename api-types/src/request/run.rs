//! What a task runs.

use super::{Given, Pairs};
use domain::task::{CompleteOn, HttpMethod, SuccessRule};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The driver and its arguments: exactly one of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Run {
    /// Starts a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandRun>,
    /// Calls a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpRun>,
    /// Does nothing for some time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noop: Option<NoopRun>,
}

/// A program to start, without a shell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CommandRun {
    /// Program and arguments, each at most 131071 bytes (system limit).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_items = 1, required, nullable = false))]
    pub argv: Option<Vec<String>>,
    /// Environment; nothing is inherited. Berth adds `BERTH_TASK_ID`, `BERTH_ATTEMPT`, `BERTH_DUE_AT` (due time, RFC
    /// 3339), `BERTH_SCHEDULE` (for a task of a schedule), `TRACEPARENT`, `BERTH_RESULT` (file for the task's
    /// result), `BERTH_PORT_FIRST` and `BERTH_PORT_COUNT` (with ports), and, unless given, `PATH` and `HOME` (work
    /// directory). `NAME=value` has at most 131071 bytes. Default: empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Environment>))]
    pub env: Option<Pairs>,
    /// What it reads on standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
}

/// A URL to call. Berth adds the headers `Berth-Task-Id`, `Berth-Attempt`, `Berth-Due-At` (due time, RFC 3339),
/// `Berth-Schedule` (for a task of a schedule), `Idempotency-Key` (the task's id) and `traceparent`. Up to 5 redirects
/// are followed. Addresses that are not public are refused unless the pool allows them. `exit_code` and output of the
/// attempt are the status and body of the response.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HttpRun {
    /// Method. Default: `POST` with a body, else `GET`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::HttpMethod>))]
    pub method: Option<Given<HttpMethod>>,
    /// URL: http or https, without user name and password.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(
            required,
            nullable = false,
            max_length = 2048,
            example = "https://example.com/hook"
        )
    )]
    pub url: Option<String>,
    /// Request headers, at most 64, without those that frame the message (`Host`, `Content-Length`) and those that
    /// Berth adds. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::HttpHeaders>))]
    pub headers: Option<Pairs>,
    /// Request body, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Request body in base64, instead of `body`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(content_encoding = "base64"))]
    pub body_base64: Option<String>,
    /// Statuses of success, such as `"2xx"`, `"200,204"` or `"200-299"`. Default: `"2xx"`. A listed redirect is not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub success: Option<Given<SuccessRule>>,
    /// Timeout of the whole exchange, such as `"30s"`; then the attempt fails. The execution cap applies too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub timeout: Option<Given<Duration>>,
    /// `callback`: a success says only that the call was taken on, and the task runs without an executor until
    /// `POST /v1/tasks/{id}/complete`, at most until its execution cap. The call carries `Berth-Completion-Token`. Default: `answer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::CompleteOn>))]
    pub complete: Option<Given<CompleteOn>>,
}

/// A task that does nothing for some time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NoopRun {
    /// Duration. Default: `"0s"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub sleep: Option<Given<Duration>>,
}

impl From<domain::task::Run> for Run {
    fn from(run: domain::task::Run) -> Self {
        match run {
            domain::task::Run::Command(run) => {
                Self { command: Some(run.into()), ..Self::default() }
            }
            domain::task::Run::Http(run) => Self { http: Some(run.into()), ..Self::default() },
            domain::task::Run::Noop(domain::task::NoopRun { sleep }) => {
                Self { noop: Some(NoopRun { sleep: Some(sleep.into()) }), ..Self::default() }
            }
        }
    }
}

impl From<domain::task::CommandRun> for CommandRun {
    fn from(run: domain::task::CommandRun) -> Self {
        let domain::task::CommandRun { argv, env, stdin } = run;
        Self { argv: Some(argv), env: Pairs::some(env), stdin }
    }
}

impl From<domain::task::HttpRun> for HttpRun {
    fn from(run: domain::task::HttpRun) -> Self {
        let domain::task::HttpRun {
            method,
            url,
            headers,
            body,
            body_base64,
            success,
            timeout,
            complete,
        } = run;
        Self {
            method: Some(method.into()),
            url: Some(url),
            headers: Pairs::some(headers),
            body,
            body_base64,
            success: Some(success.into()),
            timeout: timeout.map(Given::from),
            complete: (!complete.is_answer()).then(|| complete.into()),
        }
    }
}

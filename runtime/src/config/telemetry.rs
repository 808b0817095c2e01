//! `[telemetry]`: what is logged, and in which form.
//!
//! Read by `telemetry::init`, which also refuses a `log` it cannot read.

use serde::Deserialize;

/// Form of the log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text on a terminal, JSON otherwise.
    Auto,
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// Settings of `[telemetry]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Levels, as in `info,store=debug`.
    pub log: String,
    /// Form of the lines.
    pub format: LogFormat,
}

//! `[telemetry]`: what is logged, and in which form.
//!
//! Read by `telemetry::init`, which also refuses a `log` it cannot read.

use super::checks::{Checks, secs};
use super::values::{duration, secret};
use crate::tls::PemFile;
use secrecy::SecretString;
use serde::Deserialize;
use std::time::Duration;

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

/// How telemetry goes to its collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtlpProtocol {
    /// gRPC.
    Grpc,
    /// HTTP, protobuf messages.
    Http,
}

/// Settings of `[telemetry]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Levels, as in `info,store=debug`.
    pub log: String,
    /// Form of the lines.
    pub format: LogFormat,
    /// Bytes of lines that wait for standard error to be read.
    pub log_queue_bytes: usize,
    /// Address of an OpenTelemetry collector that takes OTLP; empty: none.
    pub otlp_endpoint: String,
    /// How it takes it.
    pub otlp_protocol: OtlpProtocol,
    /// File of the CAs that are trusted besides the usual ones; empty: none.
    pub otlp_ca_file: String,
    /// Headers of each export, `name=value,name=value`.
    #[serde(deserialize_with = "secret")]
    pub otlp_headers: SecretString,
    /// Between two exports of metrics.
    #[serde(deserialize_with = "duration")]
    pub otlp_metrics_interval: Duration,
}

impl TelemetryConfig {
    /// The file of private CAs.
    #[must_use]
    pub fn otlp_ca_file(&self) -> PemFile<'_> {
        PemFile { setting: "telemetry.otlp_ca_file", path: &self.otlp_ca_file }
    }

    pub(super) fn check(&self, checks: &mut Checks) {
        checks.number("telemetry.log_queue_bytes", self.log_queue_bytes, 4096..=1 << 28);
        let interval = self.otlp_metrics_interval;
        checks.duration("telemetry.otlp_metrics_interval", interval, secs(1)..=secs(600));
        let endpoint = self.otlp_endpoint.as_str();
        let usable = endpoint.is_empty()
            || endpoint.starts_with("http://")
            || endpoint.starts_with("https://");
        let message = "must be empty or an address such as http://localhost:4317";
        checks.rule("telemetry.otlp_endpoint", usable, message);
    }
}

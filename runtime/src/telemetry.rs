//! Logs: set up once, first thing in a process.
//!
//! Called by `cli` with the role's name. Lines go to standard error by way of a queue ([`crate::log_queue`]), so that standard output stays
//! free for what a command was asked for, or to a file where a person looks at the screen. Panics are logged in the same form, with their place,
//! because a bare panic message in the middle of JSON is lost by every collector.

use crate::config::{LogFormat, TelemetryConfig};
use crate::log_level::{self, FilterError};
use crate::log_queue::{self, ToQueue};
use crate::log_trace::JsonLines;
use crate::malformed::CountMalformed;
use crate::otlp::{self, OtlpError};
use std::fs::File;
use std::io::{self, IsTerminal, stderr};
use std::sync::Arc;
use std::time::Duration;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, Registry, fmt, reload};

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `telemetry.log` is not a list of levels.
    #[error(
        "`telemetry.log` is \"{text}\"; use a level or a list such as \"info,store=debug\": {source}"
    )]
    Filter {
        /// The setting.
        text: String,
        /// What is wrong with it.
        #[source]
        source: FilterError,
    },
    /// The thread that writes the log cannot be started.
    #[error("the log's thread cannot be started")]
    Thread(#[source] io::Error),
    /// Nothing can be exported as configured.
    #[error(transparent)]
    Otlp(#[from] OtlpError),
    /// Logging was set up before, in this process.
    #[error("logging is already set up: {0}")]
    AlreadySet(#[source] TryInitError),
}

/// Time for the lines of a panic.
const LAST_LINES: Duration = Duration::from_millis(200);
/// Crates whose log lines are not exported: each export would cause the next.
const OF_THE_EXPORT: [&str; 8] =
    ["h2", "hyper", "hyper_util", "opentelemetry", "reqwest", "rustls", "tonic", "tower"];

/// Starts logging, in the form and at the levels that are configured, and the export where one is; for that tokio must
/// run. Then call [`otlp::flush`] at the end, and [`log_queue::flush`] after it.
///
/// # Errors
/// When the levels or the export's settings cannot be read, or logging is already set up.
pub fn init(role: &str, config: &TelemetryConfig) -> Result<(), TelemetryError> {
    let queue =
        log_queue::standard_error(config.log_queue_bytes).map_err(TelemetryError::Thread)?;
    set_up(role, config, BoxMakeWriter::new(ToQueue(queue)), stderr().is_terminal())
}

/// The same with lines that go to `file`, which is best opened for appending.
///
/// # Errors
/// As [`init`].
pub fn init_in(role: &str, config: &TelemetryConfig, file: File) -> Result<(), TelemetryError> {
    set_up(role, config, BoxMakeWriter::new(Arc::new(file)), false)
}

fn set_up(
    role: &str,
    config: &TelemetryConfig,
    writer: BoxMakeWriter,
    terminal: bool,
) -> Result<(), TelemetryError> {
    let filter = log_level::parse(&config.log)
        .map_err(|source| TelemetryError::Filter { text: config.log.clone(), source })?;
    let (filter, changeable) = reload::Layer::new(filter);
    let text = match config.format {
        LogFormat::Text => true,
        LogFormat::Json => false,
        LogFormat::Auto => terminal,
    };
    let lines = fmt::layer().with_writer(writer);
    let lines: Box<dyn Layer<_> + Send + Sync> = if text {
        lines.with_ansi(terminal).boxed()
    } else {
        let json = lines.json().flatten_event(true).with_current_span(true);
        json.map_event_format(|plain| JsonLines { plain }).boxed()
    };
    let own = Targets::new()
        .with_default(LevelFilter::TRACE)
        .with_targets(OF_THE_EXPORT.map(|target| (target, LevelFilter::OFF)));
    let exported = otlp::start(role, config)?.map(|layer| layer.with_filter(own));
    Registry::default()
        .with(filter)
        .with(lines)
        .with(exported)
        .with(CountMalformed)
        .try_init()
        .map_err(TelemetryError::AlreadySet)?;
    log_level::keep(changeable, &config.log);
    otlp::begin();
    std::panic::set_hook(Box::new(log_panic));
    tracing::info!(role, pid = std::process::id(), "Starting as {role}");
    Ok(())
}

fn log_panic(info: &std::panic::PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let message = info.payload_as_str().unwrap_or("a panic without a message");
    let backtrace = std::backtrace::Backtrace::capture().to_string();
    tracing::error!(place, backtrace, "Panic at {place}: {message}");
    // It may be the end of the process.
    log_queue::flush(LAST_LINES);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::OtlpProtocol;

    fn config(log: &str, format: LogFormat) -> TelemetryConfig {
        TelemetryConfig {
            log: log.to_owned(),
            format,
            log_queue_bytes: 1 << 20,
            otlp_endpoint: String::new(),
            otlp_protocol: OtlpProtocol::Grpc,
            otlp_ca_file: String::new(),
            otlp_headers: String::new().into(),
            otlp_metrics_interval: std::time::Duration::from_secs(15),
        }
    }

    #[test]
    fn levels_that_cannot_be_read_are_refused_by_name() {
        let config = config("info,store=loud", LogFormat::Text);
        let error = init("test", &config).expect_err("`loud` is not a level");
        assert!(error.to_string().contains("telemetry.log"), "{error}");
    }

    #[test]
    fn logging_is_set_up_once() {
        let config = config("info,store=debug", LogFormat::Json);
        init("test", &config).expect("the first time");
        assert!(matches!(init("test", &config), Err(TelemetryError::AlreadySet(_))));
    }
}

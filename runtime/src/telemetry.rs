//! Logs: set up once, first thing in a process.
//!
//! Called by `cli` with the role's name. Lines go to standard error, so that standard output stays
//! free for what a command was asked for, or to a file where a person looks at the screen. Panics are logged in the same form, with their place,
//! because a bare panic message in the middle of JSON is lost by every collector.

use crate::config::{LogFormat, TelemetryConfig};
use std::fs::File;
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

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
        source: ParseError,
    },
    /// Logging was set up before, in this process.
    #[error("logging is already set up: {0}")]
    AlreadySet(#[source] TryInitError),
}

/// Starts logging, in the form and at the levels that are configured.
///
/// # Errors
/// When the levels cannot be read, or logging is already set up.
pub fn init(role: &str, config: &TelemetryConfig) -> Result<(), TelemetryError> {
    set_up(role, config, BoxMakeWriter::new(stderr), stderr().is_terminal())
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
    let filter = EnvFilter::builder()
        .parse(&config.log)
        .map_err(|source| TelemetryError::Filter { text: config.log.clone(), source })?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    let text = match config.format {
        LogFormat::Text => true,
        LogFormat::Json => false,
        LogFormat::Auto => terminal,
    };
    let set = if text {
        lines.with_ansi(terminal).finish().try_init()
    } else {
        lines.json().flatten_event(true).with_current_span(true).finish().try_init()
    };
    set.map_err(TelemetryError::AlreadySet)?;
    std::panic::set_hook(Box::new(log_panic));
    tracing::info!(role, pid = std::process::id(), "Starting as {role}");
    Ok(())
}

fn log_panic(info: &std::panic::PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let message = info.payload_as_str().unwrap_or("a panic without a message");
    let backtrace = std::backtrace::Backtrace::capture().to_string();
    tracing::error!(place, backtrace, "Panic at {place}: {message}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_cannot_be_read_are_refused_by_name() {
        let config = TelemetryConfig { log: "info,store=loud".to_owned(), format: LogFormat::Text };
        let error = init("test", &config).expect_err("`loud` is not a level");
        assert!(error.to_string().contains("telemetry.log"), "{error}");
    }

    #[test]
    fn logging_is_set_up_once() {
        let config =
            TelemetryConfig { log: "info,store=debug".to_owned(), format: LogFormat::Json };
        init("test", &config).expect("the first time");
        assert!(matches!(init("test", &config), Err(TelemetryError::AlreadySet(_))));
    }
}

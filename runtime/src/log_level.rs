//! What is logged, changed while the process runs: for good, or for a time.
//!
//! Set up by `telemetry`, changed through `/log-level` of the health server, never through the api's public address. There is one
//! filter in a process, however many roles it has. The rule: text that cannot be read changes nothing.

use crate::clock::{self, Instant};
use crate::shutdown::Shutdown;
use domain::time::{Timestamp, format_time};
use parking_lot::Mutex;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::sync::Notify;
use tracing_subscriber::filter::{LevelFilter, ParseError};
use tracing_subscriber::{EnvFilter, Registry, reload};

static LOG_LEVEL: OnceLock<LogLevel> = OnceLock::new();

/// Why a text is no filter.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// Nothing.
    #[error("it is empty")]
    Empty,
    /// A word that the library takes for the name of a module, whose lines would then be the only ones.
    #[error("`{0}` is not a level (off, error, warn, info, debug or trace)")]
    NoLevel(String),
    /// A part that the library cannot read.
    #[error(transparent)]
    Unreadable(#[from] ParseError),
}

/// Why the filter is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeError {
    #[error(
        "\"{text}\" is no log filter: {source}; use a level or a list such as \"info,store=debug\""
    )]
    Filter {
        text: String,
        #[source]
        source: FilterError,
    },
    #[error("the log of this process has no filter")]
    NoLog,
    #[error("the filter cannot be changed")]
    Reload(#[from] reload::Error),
}

/// Reads `"info"`, `"info,store=debug"`.
///
/// # Errors
/// Says which part is wrong.
pub fn parse(text: &str) -> Result<EnvFilter, FilterError> {
    if text.trim().is_empty() {
        return Err(FilterError::Empty);
    }
    // Filters by spans are as the library reads them.
    if text.contains('[') {
        return Ok(EnvFilter::builder().parse(text)?);
    }
    let parts: Vec<_> = text.split(',').map(str::trim).collect();
    let mut bare = parts.iter().filter(|part| !part.contains('='));
    if let Some(word) = bare.find(|part| part.parse::<LevelFilter>().is_err()) {
        return Err(FilterError::NoLevel((*word).to_owned()));
    }
    Ok(EnvFilter::builder().parse(parts.join(","))?)
}

struct LogLevel {
    filter: reload::Handle<EnvFilter, Registry>,
    /// `telemetry.log`.
    configured: String,
    standing: Mutex<Standing>,
    /// Ends the wait of the change before.
    changed: Notify,
}

/// What is logged now.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    text: String,
    /// What comes back, and when.
    then: Option<(String, Timestamp)>,
    changes: u64,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        match &self.then {
            Some((before, at)) => writeln!(f, "until {}, then {before}", format_time(*at)),
            None => Ok(()),
        }
    }
}

/// Takes the filter of this process's log, which is that of `telemetry.log`.
pub(crate) fn keep(filter: reload::Handle<EnvFilter, Registry>, configured: &str) {
    let standing = Standing { text: configured.to_owned(), then: None, changes: 0 };
    let configured = configured.to_owned();
    let (standing, changed) = (Mutex::new(standing), Notify::new());
    // Whoever was first: the subscriber cannot be set twice either.
    let _kept = LOG_LEVEL.set(LogLevel { filter, configured, standing, changed });
}

/// What is logged now; none: the process has no log.
pub(crate) fn standing() -> Option<Standing> {
    LOG_LEVEL.get().map(|level| level.standing.lock().clone())
}

/// Logs what `text` says from now on, or what is configured.
///
/// # Errors
/// Where the text cannot be read; then nothing is changed.
pub(crate) fn change(text: Option<&str>, time: Option<Duration>) -> Result<Change, ChangeError> {
    let level = LOG_LEVEL.get().ok_or(ChangeError::NoLog)?;
    level.change(text.unwrap_or(&level.configured), time)
}

/// A change that was made.
pub(crate) struct Change {
    pub standing: Standing,
    until: Option<Instant>,
}

impl Change {
    /// Takes it back when its time is over, unless there was another meanwhile.
    pub(crate) async fn end(self, shutdown: Shutdown) {
        let (Some(level), Some(until)) = (LOG_LEVEL.get(), self.until) else { return };
        let changed = level.changed.notified();
        if level.standing.lock().changes != self.standing.changes {
            return;
        }
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = changed => {}
            () = clock::sleep_until(until) => level.go_back(self.standing.changes),
        }
    }
}

impl LogLevel {
    fn change(&self, text: &str, time: Option<Duration>) -> Result<Change, ChangeError> {
        let mut standing = self.standing.lock();
        // What comes back after a second change for a time is what was there before the first.
        let before = standing.then.as_ref().map_or(&standing.text, |(before, _)| before).clone();
        let then = time.map(|time| (before, clock::wall() + time));
        self.set(&mut standing, text.trim(), then)?;
        let until = time.map(|time| clock::monotonic() + time);
        Ok(Change { standing: standing.clone(), until })
    }

    fn go_back(&self, changes: u64) {
        let mut standing = self.standing.lock();
        if standing.changes != changes {
            return;
        }
        let Some((before, _)) = standing.then.clone() else { return };
        if let Err(error) = self.set(&mut standing, &before, None) {
            tracing::error!(%error, "The log filter stays `{}`: {error}", standing.text);
        }
    }

    fn set(
        &self,
        standing: &mut Standing,
        text: &str,
        then: Option<(String, Timestamp)>,
    ) -> Result<(), ChangeError> {
        let filter =
            parse(text).map_err(|source| ChangeError::Filter { text: text.to_owned(), source })?;
        tracing::warn!(filter = text, "The log filter changes to `{text}`");
        self.filter.reload(filter)?;
        *standing = Standing { text: text.to_owned(), then, changes: standing.changes + 1 };
        self.changed.notify_waiters();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_with_a_typing_error_is_refused_by_name() {
        for good in [
            "info",
            "INFO",
            "off",
            "info,lapin=off,hickory=off",
            "warn, store=debug",
            "[s{a=1}]=debug",
        ] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for (bad, part) in [
            ("debgu", "`debgu`"),
            ("info,store", "`store`"),
            ("info,store=loud", ""),
            (" ", "empty"),
        ] {
            let error = parse(bad).expect_err(bad).to_string();
            assert!(error.contains(part), "{bad}: {error}");
        }
    }
}

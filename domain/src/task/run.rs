//! What a task runs. The API parses it, the database keeps it as JSON, the executor reads it.

use super::http::HttpRun;
use crate::target::origin_of;
use crate::time::text;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The driver and what it is given: `{"command": {...}}`, `{"http": {...}}` or `{"noop": {...}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Run {
    /// Starts a program. No shell is involved unless `argv` names one.
    Command(CommandRun),
    /// Calls a URL.
    Http(HttpRun),
    /// Does nothing, for a while: for measuring and for trying things out.
    Noop(NoopRun),
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandRun {
    /// Program and arguments; at least the program.
    pub argv: Vec<String>,
    /// The whole environment: nothing else is inherited.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What it reads on standard input; empty when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
}

/// Nothing, for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoopRun {
    /// How long to wait before succeeding; 0 when left out.
    #[serde(default, with = "text")]
    pub sleep: Duration,
}

impl Run {
    /// The names of all drivers.
    pub const DRIVERS: [&'static str; 3] = ["command", "http", "noop"];

    /// The driver's name: `command`, `http` or `noop`.
    #[must_use]
    pub const fn driver(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Http(_) => "http",
            Self::Noop(_) => "noop",
        }
    }

    /// What it calls, for retries: such as `https://api.example.com:8443`; `None` where it calls nothing that is known.
    #[must_use]
    pub fn target(&self) -> Option<String> {
        match self {
            Self::Http(call) => origin_of(&call.url),
            Self::Command(_) | Self::Noop(_) => None,
        }
    }

    /// Reads the JSON in which runs are stored.
    ///
    /// # Errors
    /// When it is malformed, or of a driver that this release does not know; see [`Self::unknown_driver`].
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The JSON in which runs are stored.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Of text, numbers and lists of them: nothing in it can fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The driver that the JSON of a run names, where it names just one, and none that this release knows.
    #[must_use]
    pub fn unknown_driver(text: &str) -> Option<String> {
        let run: BTreeMap<String, IgnoredAny> = serde_json::from_str(text).ok()?;
        let mut names = run.into_keys();
        let name = names.next().filter(|name| !Self::DRIVERS.contains(&name.as_str()))?;
        names.next().is_none().then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_driver_reads_back_as_written() {
        for text in [
            r#"{"command":{"argv":["bash","-c","echo hi"],"env":{"A":"1"},"stdin":"x"}}"#,
            r#"{"http":{"method":"POST","url":"https://a/","headers":{"A":"1"},"body":"x","success":"2xx,404","timeout":"5s"}}"#,
            r#"{"http":{"method":"GET","url":"https://a/","success":"2xx"}}"#,
            r#"{"http":{"method":"GET","url":"https://a/","success":"2xx","complete":"callback"}}"#,
            r#"{"noop":{"sleep":"1m30s"}}"#,
        ] {
            let run: Run = serde_json::from_str(text).unwrap();
            assert_eq!(run.to_json(), text);
            assert!(Run::DRIVERS.contains(&run.driver()), "{text}");
        }
    }

    #[test]
    fn an_unknown_field_or_driver_is_refused() {
        for text in [
            r#"{"noop":{"nap":"1s"}}"#,
            r#"{"shell":{}}"#,
            r#"{"command":{"env":{}}}"#,
            r#"{"http":{"method":"GET","url":"http://a/","verify":false}}"#,
            r#"{"http":{"url":"http://a/"}}"#,
            r#"{"http":{"method":"TRACE","url":"http://a/"}}"#,
            r#"{"http":{"method":"GET","url":"http://a/","success":"ok"}}"#,
            r#"{"http":{"method":"GET","url":"http://a/","complete":"never"}}"#,
        ] {
            assert!(serde_json::from_str::<Run>(text).is_err(), "{text}");
        }
    }
}

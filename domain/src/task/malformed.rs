//! What of a stored task cannot be read: why one ends `failed` though nobody ran it.

use super::{RetryPolicy, Run};
use serde_json::Value;
use std::fmt;

/// The drivers of this release.
pub const DRIVERS: [&str; 3] = ["command", "http", "noop"];

/// What of a task is malformed. Each reason begins with the word `malformed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// What it runs.
    Run,
    /// Its retry policy.
    Retry,
    /// Its row: something that is missing, or beyond all bounds.
    Row,
}

impl Malformed {
    /// As it is stored with the task, for people.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Run => "malformed: what it runs cannot be read",
            Self::Retry => "malformed: its retry policy cannot be read",
            Self::Row => "malformed: its row holds values that cannot be used",
        }
    }

    /// What is wrong with a task as it is stored; none where executors can run it. A driver that is not known here is no fault: an
    /// executor of another release may know it.
    #[must_use]
    pub fn of(run_json: &str, retry_json: Option<&str>) -> Option<Self> {
        if matches!(read_run(run_json), Err(Unusable::Malformed(_))) {
            return Some(Self::Run);
        }
        let policy = retry_json.map(serde_json::from_str::<RetryPolicy>);
        policy.is_some_and(|read| read.is_err()).then_some(Self::Retry)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

/// Why a `run` cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// This release has no such driver.
    #[error("this executor has no driver `{0}`")]
    UnknownDriver(String),
    /// No release could read it.
    #[error("malformed run: {0}")]
    Malformed(String),
}

/// Reads what a task runs, and tells a driver we do not have from one that was misused: the first is a matter of versions, what a
/// known driver cannot read would fail everywhere.
///
/// # Errors
/// Which of the two.
pub fn read_run(run_json: &str) -> Result<Run, Unusable> {
    serde_json::from_str(run_json).map_err(|error| {
        let driver = match serde_json::from_str(run_json) {
            Ok(Value::Object(object)) if object.len() == 1 => object.into_iter().next(),
            _ => None,
        };
        match driver {
            Some((name, _)) if !DRIVERS.contains(&name.as_str()) => Unusable::UnknownDriver(name),
            _ => Unusable::Malformed(error.to_string()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_driver_is_told_from_a_malformed_run() {
        for driver in DRIVERS {
            let run = match driver {
                "command" => r#"{"command":{"argv":["a"]}}"#,
                "http" => r#"{"http":{"method":"GET","url":"http://a/"}}"#,
                _ => r#"{"noop":{}}"#,
            };
            assert_eq!(read_run(run).unwrap().driver(), driver);
        }
        let unknown = r#"{"container":{"image":"x"}}"#;
        assert_eq!(read_run(unknown), Err(Unusable::UnknownDriver("container".to_owned())));
        assert_eq!(Malformed::of(unknown, None), None);
        for text in
            ["", "[]", "{}", r#"{"noop":{"nap":1}}"#, r#"{"noop":{},"command":{}}"#, "{\"command\""]
        {
            assert!(matches!(read_run(text), Err(Unusable::Malformed(_))), "{text}");
            assert_eq!(Malformed::of(text, None), Some(Malformed::Run), "{text}");
        }
    }

    #[test]
    fn a_retry_policy_that_cannot_be_read_is_malformed_and_a_missing_one_is_not() {
        let run = r#"{"noop":{}}"#;
        assert_eq!(Malformed::of(run, None), None);
        assert_eq!(Malformed::of(run, Some("{}")), None);
        for text in ["", "7", r#"{"backoff":"sideways"}"#, r#"{"factor":"two"}"#] {
            assert_eq!(Malformed::of(run, Some(text)), Some(Malformed::Retry), "{text}");
        }
    }
}

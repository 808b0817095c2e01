//! Parses what a task runs.

use super::Run;
use serde_json::Value;

/// The drivers of this release.
pub const DRIVERS: [&str; 3] = ["command", "http", "noop"];

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
        for text in
            ["", "[]", "{}", r#"{"noop":{"nap":1}}"#, r#"{"noop":{},"command":{}}"#, "{\"command\""]
        {
            assert!(matches!(read_run(text), Err(Unusable::Malformed(_))), "{text}");
        }
    }
}

//! Reads an assignment's `run`, and tells a driver we do not have from one that was misused.
//!
//! The difference is who pays: an unknown driver is a matter of versions, so the task goes back untouched
//! (another executor may know it); what a known driver cannot read would fail everywhere.

use domain::task::Run;
use serde_json::Value;

/// The drivers of this executor, as `Hello` names them.
pub(super) const DRIVERS: [&str; 3] = ["command", "http", "noop"];

/// Why a `run` cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unusable {
    #[error("this executor has no driver `{0}`")]
    UnknownDriver(String),
    #[error("malformed run: {0}")]
    Malformed(String),
}

pub(super) fn parse(run_json: &str) -> Result<Run, Unusable> {
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
            assert_eq!(parse(run).unwrap().driver(), driver);
        }
        let unknown = parse(r#"{"container":{"image":"x"}}"#);
        assert_eq!(unknown, Err(Unusable::UnknownDriver("container".to_owned())));
        for text in
            ["", "[]", "{}", r#"{"noop":{"nap":1}}"#, r#"{"noop":{},"command":{}}"#, "{\"command\""]
        {
            assert!(matches!(parse(text), Err(Unusable::Malformed(_))), "{text}");
        }
    }
}

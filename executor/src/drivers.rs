//! The drivers of this release, by name.
//!
//! A driver is one module that implements [`Driver`], and one line of [`ALL`]. What a task gives it is a variant of
//! [`domain::task::Run`], which the API reads. Nothing else names it.

use crate::command::{self, CommandDriver};
use crate::driver::Driver;
use crate::http::{self, HttpDriver};
use crate::noop::{self, NoopDriver};
use runtime::config::ExecutorConfig;
use serde_json::Value;
use std::sync::Arc;

/// What drivers are set up from.
pub(crate) struct Host<'a> {
    pub(crate) config: &'a ExecutorConfig,
    pub(crate) command: CommandDriver,
}

type SetUp = fn(&Host<'_>) -> Arc<dyn Driver>;

/// As tasks name them, and how each is set up.
const ALL: [(&str, SetUp); 3] = [
    (command::NAME, |host| Arc::new(host.command.clone())),
    (http::NAME, |host| Arc::new(HttpDriver::new(host.config))),
    (noop::NAME, |_| Arc::new(NoopDriver)),
];

/// `executor.drivers` names one that this release does not have.
#[derive(Debug, thiserror::Error)]
#[error("`executor.drivers` names `{name}`; there are: {}", ALL.map(|(name, _)| name).join(", "))]
pub struct UnknownDriver {
    name: String,
}

/// Why a `run` cannot be run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    /// A matter of versions, and of `executor.drivers`: another executor may have it.
    #[error("this executor has no driver `{0}`")]
    NoDriver(String),
    /// It would fail everywhere.
    #[error("malformed run: {0}")]
    Malformed(String),
}

/// Those that this executor offers.
pub(crate) struct Drivers(Vec<(&'static str, Arc<dyn Driver>)>);

impl Drivers {
    /// Sets up those that the configuration names.
    ///
    /// # Errors
    /// When there is none of that name.
    pub(crate) fn new(host: &Host<'_>) -> Result<Self, UnknownDriver> {
        let of = |name: &String| {
            let known = ALL.into_iter().find(|(known, _)| known == name);
            let (name, set_up) = known.ok_or_else(|| UnknownDriver { name: name.clone() })?;
            Ok((name, set_up(host)))
        };
        host.config.drivers.iter().map(of).collect::<Result<_, _>>().map(Self)
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// The driver of a `run`, `{"<name>": {...}}`, and what it is given.
    ///
    /// # Errors
    /// Without changing anything.
    pub(crate) fn find(&self, run_json: &str) -> Result<(Arc<dyn Driver>, Value), Unusable> {
        let malformed = |error: serde_json::Error| Unusable::Malformed(error.to_string());
        let run: serde_json::Map<String, Value> =
            serde_json::from_str(run_json).map_err(malformed)?;
        let mut all = run.into_iter();
        let (Some((name, given)), None) = (all.next(), all.next()) else {
            return Err(Unusable::Malformed("it must name one driver".to_owned()));
        };
        let known = self.0.iter().find(|(known, _)| *known == name);
        let (_, driver) = known.ok_or(Unusable::NoDriver(name))?;
        Ok((Arc::clone(driver), given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::task::Run;

    fn noop() -> Drivers {
        Drivers(vec![(noop::NAME, Arc::new(NoopDriver))])
    }

    #[test]
    fn what_the_api_accepts_has_a_driver() {
        for run in [
            r#"{"command":{"argv":["a"]}}"#,
            r#"{"http":{"method":"GET","url":"http://a/"}}"#,
            r#"{"noop":{}}"#,
        ] {
            let driver = serde_json::from_str::<Run>(run).unwrap().driver();
            assert!(ALL.iter().any(|(name, _)| *name == driver), "{driver}");
        }
    }

    #[test]
    fn an_unknown_driver_is_told_from_a_malformed_run() {
        let find = |run: &str| noop().find(run).map(|(_, given)| given.to_string());
        assert_eq!(find(r#"{"noop":{"sleep":"1s"}}"#), Ok(r#"{"sleep":"1s"}"#.to_owned()));
        for (name, run) in [
            ("container", r#"{"container":{"image":"x"}}"#),
            ("command", r#"{"command":{"argv":["a"]}}"#),
        ] {
            assert_eq!(find(run), Err(Unusable::NoDriver(name.to_owned())), "not offered here");
        }
        for text in ["", "[]", "{}", r#"{"noop":{},"command":{}}"#, "{\"command\""] {
            assert!(matches!(find(text), Err(Unusable::Malformed(_))), "{text}");
        }
    }
}

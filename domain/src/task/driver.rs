//! Names of drivers, and which of them there are.
//!
//! A task needs one driver; an executor offers some. They are compared by name only: this release may meet tasks and
//! executors of a later one.

use super::Run;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A driver's name, as `run` spells it: 1 to 23 of a-z 0-9 `_`. Copied freely.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverName {
    text: [u8; DriverName::MOST],
    length: u8,
}

/// A text is not a driver's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} of a-z 0-9 _", DriverName::MOST)]
pub struct ParseDriverNameError;

impl DriverName {
    /// Longest name, bytes.
    pub const MOST: usize = 23;

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let text = self.text.get(..self.length.into()).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// `None` where `text` is too long.
    fn new(text: &str) -> Option<Self> {
        let mut name = Self { text: [0; Self::MOST], length: u8::try_from(text.len()).ok()? };
        name.text.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(name)
    }
}

impl FromStr for DriverName {
    type Err = ParseDriverNameError;

    fn from_str(text: &str) -> Result<Self, ParseDriverNameError> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let valid = !text.is_empty() && text.bytes().all(fits);
        valid.then(|| Self::new(text)).flatten().ok_or(ParseDriverNameError)
    }
}

impl TryFrom<&Run> for DriverName {
    type Error = ParseDriverNameError;

    fn try_from(run: &Run) -> Result<Self, ParseDriverNameError> {
        run.driver().parse()
    }
}

impl fmt::Display for DriverName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for DriverName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// The drivers of an executor or of a pool. Cheap to clone. By default unknown: then any task may be tried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriverSet(Option<Arc<BTreeSet<DriverName>>>);

impl DriverSet {
    /// Exactly these.
    #[must_use]
    pub fn of(names: impl IntoIterator<Item = DriverName>) -> Self {
        Self(Some(Arc::new(names.into_iter().collect())))
    }

    /// Its names; `None` where they are unknown.
    #[must_use]
    pub fn names(&self) -> Option<&BTreeSet<DriverName>> {
        self.0.as_deref()
    }

    /// Whether a task of this driver may be tried. `None`: of which it is unknown.
    #[must_use]
    pub fn offers(&self, driver: Option<DriverName>) -> bool {
        match (&self.0, driver) {
            (Some(names), Some(driver)) => names.contains(&driver),
            _ => true,
        }
    }

    /// Those of either; unknown where one of both is.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if b.is_subset(a) => Self(Some(Arc::clone(a))),
            (Some(a), Some(b)) => Self::of(a.union(b).copied()),
            _ => Self(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DriverName {
        text.parse().unwrap()
    }

    #[test]
    fn only_names_as_they_are_spelled_in_a_run_are_names() {
        let longest = "a".repeat(DriverName::MOST);
        for text in ["a", "command", "grpc_2", longest.as_str()] {
            assert_eq!((name(text).as_str(), name(text).to_string()), (text, text.to_owned()));
        }
        let longer = format!("{longest}a");
        for text in ["", "Command", "a-b", "a b", "\0", "\u{fc}", longer.as_str()] {
            assert_eq!(text.parse::<DriverName>(), Err(ParseDriverNameError), "{text}");
        }
        assert!(name("a") < name("b") && name("a") != name("aa"));
    }

    #[test]
    fn what_the_api_accepts_has_a_driver_with_a_name() {
        for (driver, run) in [
            ("noop", r#"{"noop":{}}"#),
            ("command", r#"{"command":{"argv":["true"]}}"#),
            ("http", r#"{"http":{"method":"GET","url":"http://a/"}}"#),
        ] {
            let run: Run = serde_json::from_str(run).unwrap();
            assert_eq!(DriverName::try_from(&run), Ok(name(driver)));
            // A new kind of run is a line here, too.
            match run {
                Run::Command(_) | Run::Http(_) | Run::Noop(_) => {}
            }
        }
    }

    #[test]
    fn what_is_unknown_is_tried_and_what_is_known_to_be_missing_is_not() {
        let (noop, http) = (DriverSet::of([name("noop")]), DriverSet::of([name("http")]));
        assert!(noop.offers(Some(name("noop"))) && !noop.offers(Some(name("http"))));
        assert!(noop.offers(None) && DriverSet::default().offers(Some(name("http"))));
        let both = noop.union(&http);
        assert!(both.offers(Some(name("noop"))) && both.offers(Some(name("http"))));
        assert_eq!(both.union(&noop), both);
        assert_eq!(both.union(&DriverSet::default()), DriverSet::default());
        assert!(!DriverSet::of([]).offers(Some(name("noop"))));
    }
}

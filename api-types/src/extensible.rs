//! A value of an answer that later versions of the server may extend.
//!
//! The API may get new enum values at any time, so a client must read an answer that has one. The server only writes `Known`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A value that this version knows, or the JSON of one that only a later version knows.
///
/// Compares with a plain `T`: `task.state == State::Succeeded` is false for an unknown state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extensible<T> {
    /// A value that this version knows.
    Known(T),
    /// Another one, as it was received.
    Other(Value),
}

impl<T> Extensible<T> {
    /// The value, if this version knows it.
    #[must_use]
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Other(_) => None,
        }
    }

    /// Whether the value is known and `test` is true for it.
    pub fn is(&self, test: impl FnOnce(&T) -> bool) -> bool {
        self.known().is_some_and(test)
    }
}

impl<T> From<T> for Extensible<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T: DeserializeOwned> Extensible<T> {
    /// Reads a value, which never fails.
    #[must_use]
    pub fn read(json: Value) -> Self {
        T::deserialize(&json).map_or_else(|_| Self::Other(json), Self::Known)
    }
}

/// A word, as in JSON without its quotes.
impl<T: DeserializeOwned> FromStr for Extensible<T> {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(Self::read(word.into()))
    }
}

impl<T: PartialEq> PartialEq<T> for Extensible<T> {
    fn eq(&self, other: &T) -> bool {
        self.is(|value| value == other)
    }
}

/// As in JSON; a text without its quotes.
impl<T: Serialize> fmt::Display for Extensible<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = match self {
            Self::Known(value) => &serde_json::to_value(value).unwrap_or_default(),
            Self::Other(json) => json,
        };
        match json {
            Value::String(text) => f.pad(text),
            other => other.fmt(f),
        }
    }
}

impl<T: Serialize> Serialize for Extensible<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(value) => value.serialize(serializer),
            Self::Other(json) => json.serialize(serializer),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Extensible<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        // Null is the absence of a value in each of our answers.
        if json.is_null() {
            return Err(serde::de::Error::custom("expected a value, not null"));
        }
        Ok(Self::read(json))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::task::{Run, State};
    use serde_json::json;

    #[test]
    fn what_a_later_version_sends_is_kept_as_it_came() {
        let read = |json: &Value| serde_json::from_value::<Extensible<State>>(json.clone());
        let known = read(&json!("ready")).unwrap();
        assert_eq!(known, State::Ready);
        assert_eq!(known.to_string(), "ready");
        let other = read(&json!("parked")).unwrap();
        assert_eq!(other.known(), None);
        assert!(other != State::Ready);
        assert_eq!(other.to_string(), "parked");
        for (value, json) in [(known, "ready"), (other, "parked")] {
            assert_eq!(serde_json::to_value(value).unwrap(), json);
        }
        for word in ["ready", "parked"] {
            let Ok(read) = word.parse::<Extensible<State>>();
            assert_eq!((read.to_string().as_str(), read == State::Ready), (word, word == "ready"));
        }
        let run = json!({"wasm": {"module": "m"}});
        let read: Extensible<Run> = serde_json::from_value(run.clone()).unwrap();
        assert_eq!((read.known(), serde_json::to_value(&read).unwrap()), (None, run));
    }

    #[test]
    fn null_is_no_value() {
        let read = |text| serde_json::from_str::<Option<Extensible<State>>>(text);
        assert_eq!(read("null").unwrap(), None);
        assert!(serde_json::from_str::<Extensible<State>>("null").is_err());
    }
}

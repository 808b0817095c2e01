//! Fields whose values have a form of their own, such as a duration or the name of a pool.
//!
//! A client writes good values only. The server has to read the others too, to report all mistakes of a body at once, each with its
//! pointer: a [`Given`] is a value, or what was sent in its place. JSON of another type is still an error of the parser.

use domain::batch::{ConcurrencyKey, ParsePriorityError, Priority};
use domain::id::PoolName;
use domain::schedule::{ClockTime, Exclusion, MonthDay, ParseWordError, Weekday, YearDay};
use domain::task::{CompleteOn, HttpMethod, SuccessRule};
use domain::time::{
    ParseDurationError, ParseTimeError, Timestamp, format_duration, format_time, parse_duration,
    parse_time,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::{Borrow, Cow};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What a `T` is sent as.
type Sent<T> = <<T as Written>::Form as ToOwned>::Owned;

/// A value as it was given: good, or [`Wrong`].
#[derive(Debug, Clone, PartialEq)]
pub struct Given<T: Written>(Result<T, Wrong<T>>);

/// What was sent where a `T` is wanted. It displays as what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong<T: Written>(Sent<T>);

/// A type that has a form in JSON.
pub trait Written: Sized {
    /// The type of JSON it is written as.
    type Form: Form + ?Sized;
    /// Displays as what is wanted.
    type Error: fmt::Display;

    /// Reads it.
    ///
    /// # Errors
    /// When it is no such value.
    fn read(form: &Self::Form) -> Result<Self, Self::Error>;

    /// Its usual form.
    fn write(&self) -> Sent<Self>;
}

/// A type of JSON in which values are written: `str`, a number, or any.
pub trait Form: ToOwned<Owned: Clone + fmt::Debug + PartialEq + Serialize> {
    /// Passes what is sent to `read`, a text without a copy.
    ///
    /// # Errors
    /// When it is JSON of another type.
    fn receive<'de, D: Deserializer<'de>, T>(
        deserializer: D,
        read: impl FnOnce(&Self) -> T,
    ) -> Result<T, D::Error>;
}

impl<T: Written> Given<T> {
    /// The value.
    ///
    /// # Errors
    /// What was sent instead.
    pub fn read(self) -> Result<T, Wrong<T>> {
        self.0
    }
}

impl<T: Written> Wrong<T> {
    /// What was sent.
    #[must_use]
    pub const fn sent(&self) -> &Sent<T> {
        &self.0
    }
}

impl<T: Written> fmt::Display for Wrong<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::read(self.0.borrow()).map_or_else(|error| error.fmt(f), |_| Ok(()))
    }
}

impl<T: Written> From<T> for Given<T> {
    fn from(value: T) -> Self {
        Self(Ok(value))
    }
}

impl<'de, T: Written> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |form: &T::Form| T::read(form).map_err(|_| Wrong(form.to_owned()));
        T::Form::receive(deserializer, read).map(Self)
    }
}

impl<T: Written> Serialize for Given<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Ok(value) => value.write().serialize(serializer),
            Err(wrong) => wrong.0.serialize(serializer),
        }
    }
}

impl Form for str {
    fn receive<'de, D: Deserializer<'de>, T>(
        deserializer: D,
        read: impl FnOnce(&Self) -> T,
    ) -> Result<T, D::Error> {
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

        Text::deserialize(deserializer).map(|text| read(&text.0))
    }
}

macro_rules! form {
    ($($type:ty)*) => {$(
        impl Form for $type {
            fn receive<'de, D: Deserializer<'de>, T>(
                deserializer: D,
                read: impl FnOnce(&Self) -> T,
            ) -> Result<T, D::Error> {
                Self::deserialize(deserializer).map(|form| read(&form))
            }
        }
    )*};
}

form!(i32 Value);

macro_rules! text {
    ($($type:ty)*) => {$(
        impl Written for $type {
            type Form = str;
            type Error = <Self as FromStr>::Err;

            fn read(text: &str) -> Result<Self, Self::Error> {
                text.parse()
            }

            fn write(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

text!(PoolName CompleteOn ConcurrencyKey HttpMethod SuccessRule ClockTime Weekday YearDay);

impl Written for Duration {
    type Form = str;
    type Error = ParseDurationError;

    fn read(text: &str) -> Result<Self, ParseDurationError> {
        parse_duration(text)
    }

    fn write(&self) -> String {
        format_duration(*self)
    }
}

impl Written for Timestamp {
    type Form = str;
    type Error = ParseTimeError;

    fn read(text: &str) -> Result<Self, ParseTimeError> {
        parse_time(text)
    }

    fn write(&self) -> String {
        format_time(*self)
    }
}

impl Written for Priority {
    type Form = i32;
    type Error = ParsePriorityError;

    fn read(level: &i32) -> Result<Self, ParsePriorityError> {
        i8::try_from(*level).map_err(|_| ParsePriorityError)?.try_into()
    }

    fn write(&self) -> i32 {
        self.level().into()
    }
}

impl Written for MonthDay {
    type Form = Value;
    type Error = ParseWordError;

    fn read(form: &Value) -> Result<Self, ParseWordError> {
        Self::deserialize(form).map_err(|_| ParseWordError::MonthDay)
    }

    fn write(&self) -> Value {
        match *self {
            Self::Day(day) => day.into(),
            Self::Last => "last".into(),
        }
    }
}

impl Written for Exclusion {
    type Form = Value;
    type Error = &'static str;

    fn read(form: &Value) -> Result<Self, &'static str> {
        Self::deserialize(form).map_err(|_| {
            "must be a date such as \"2026-12-24\", or {\"from\", \"to\"} with dates or times (RFC 3339)"
        })
    }

    fn write(&self) -> Value {
        // Of dates and times: nothing in it can fail.
        serde_json::to_value(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_value_is_read_and_written_in_its_usual_form() {
        let read = |text| serde_json::from_str::<Given<Duration>>(text).unwrap();
        let given = read("\"9\\u0030s\"");
        assert_eq!(given, Duration::from_secs(90).into());
        assert_eq!(serde_json::to_string(&given).unwrap(), "\"1m30s\"");
        assert_eq!(given.read().ok(), Some(Duration::from_secs(90)));
    }

    #[test]
    fn what_is_no_value_is_kept_as_sent_and_says_what_is_wanted() {
        let given: Given<Duration> = serde_json::from_str("\"soon\"").unwrap();
        assert_eq!(serde_json::to_string(&given).unwrap(), "\"soon\"");
        let wrong = given.read().unwrap_err();
        assert_eq!(
            (wrong.sent().as_str(), wrong.to_string()),
            ("soon", ParseDurationError.to_string())
        );
        let level: Given<Priority> = serde_json::from_str("11").unwrap();
        assert_eq!(level.read().unwrap_err().to_string(), ParsePriorityError.to_string());
        let day: Given<MonthDay> = serde_json::from_str("[32]").unwrap();
        assert_eq!(day.read().unwrap_err().sent(), &serde_json::json!([32]));
    }

    #[test]
    fn json_of_another_type_is_refused() {
        let error = serde_json::from_str::<Given<PoolName>>("5").unwrap_err().to_string();
        assert!(error.starts_with("invalid type: integer `5`, expected a string"), "{error}");
        assert!(serde_json::from_str::<Given<Priority>>("\"1\"").is_err());
    }
}

//! Times and durations as people and JSON write them.
//!
//! A duration is text: `"90s"`, `"1h30m"`, or ISO 8601 `"PT5M"`. Bare numbers are refused, because
//! nobody remembers whether they were seconds or milliseconds. Calendar units (days and longer) are refused in
//! ISO form by the parser beneath; `"24h"` says the same without a question.

use jiff::SignedDuration;
use std::time::Duration;

/// A point in time, UTC, microsecond precision in the database.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a duration such as \"250ms\", \"90s\", \"1h30m\" or \"PT5M\", not negative")]
pub struct ParseDurationError;

/// Reads `"90s"`, `"1h 30m"`, `"PT5M"`; whole milliseconds, 0 upwards.
pub fn parse_duration(text: &str) -> Result<Duration, ParseDurationError> {
    let signed: SignedDuration = text.trim().parse().map_err(|_| ParseDurationError)?;
    let exact = Duration::try_from(signed).map_err(|_| ParseDurationError)?;
    Ok(Duration::from_millis(u64::try_from(exact.as_millis()).map_err(|_| ParseDurationError)?))
}

/// Writes a duration the shortest way that reads back to the same: `"1h30m"`, `"90s"` becomes `"1m30s"`.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    let parts = [
        (millis / 3_600_000, "h"),
        (millis / 60_000 % 60, "m"),
        (millis / 1000 % 60, "s"),
        (millis % 1000, "ms"),
    ];
    let text: String =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// `at` as RFC 3339 in UTC, with as many digits of a second as it takes: `2030-01-31T02:30:00Z`.
#[must_use]
pub fn format_time(at: Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
}

/// Why a text is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a time such as 2030-01-31T12:00:00Z (RFC 3339)")]
pub struct ParseTimeError;

/// Reads RFC 3339, cut to the microseconds that the database keeps.
///
/// # Errors
/// When it is something else.
pub fn parse_time(text: &str) -> Result<Timestamp, ParseTimeError> {
    let at = chrono::DateTime::parse_from_rfc3339(text).map_err(|_| ParseTimeError)?.to_utc();
    Timestamp::from_timestamp_micros(at.timestamp_micros()).ok_or(ParseTimeError)
}

/// `duration` in whole milliseconds, at most `i64::MAX`.
#[must_use]
pub fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// `#[serde(with = "domain::time::text")]` for a `Duration` field written as text.
pub mod text {
    use super::{Duration, format_duration, parse_duration};
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the duration as text.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(*duration))
    }

    /// Reads a duration from text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        parse_duration(&text).map_err(serde::de::Error::custom)
    }
}

/// The same for an `Option<Duration>` field; give it `#[serde(default)]` too.
pub mod optional_text {
    use super::{Duration, text};
    use serde::{Deserializer, Serializer};

    /// Writes the duration as text, or null.
    pub fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => text::serialize(duration, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a duration from text.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        text::deserialize(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn people_and_machines_forms_are_read() {
        for (text, millis) in [
            ("0s", 0),
            ("250ms", 250),
            ("90s", 90_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("PT5M", 300_000),
            ("PT0.5S", 500),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn unclear_or_negative_durations_are_refused() {
        for text in ["", "5", "-5s", "5 bananas", "P1M", "s", "99999999999999999999s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(millis in 0u64..10_000_000_000) {
            let duration = Duration::from_millis(millis);
            prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }
    }
}

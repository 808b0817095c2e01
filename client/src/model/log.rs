//! Filters of output.

use api_types::Stream;
use chrono::SecondsFormat;
use domain::time::{Timestamp, format_duration, parse_duration};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Start of the requested output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Since this time.
    At(Timestamp),
    /// Since this long ago.
    Ago(Duration),
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(time) => f.write_str(&time.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
            Self::Ago(duration) => f.write_str(&format_duration(*duration)),
        }
    }
}

impl FromStr for Since {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(time) = chrono::DateTime::parse_from_rfc3339(text) {
            return Ok(Self::At(time.to_utc()));
        }
        parse_duration(text)
            .map(Self::Ago)
            .map_err(|_| "expected a time such as 2030-01-31T12:00:00Z or a duration such as 10m")
    }
}

/// Filter of output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// Attempt.
    pub attempt: Option<u32>,
    /// Stream.
    pub stream: Option<Stream>,
    /// Only the last N lines, up to 10 000, over both streams.
    pub tail: Option<u32>,
    /// Stored since.
    pub since: Option<Since>,
}

impl LogFilter {
    pub(crate) fn parameters(&self) -> [(&'static str, Option<String>); 4] {
        [
            ("attempt", self.attempt.map(|attempt| attempt.to_string())),
            ("stream", self.stream.map(|stream| stream.to_string())),
            ("tail", self.tail.map(|lines| lines.to_string())),
            ("since", self.since.map(|since| since.to_string())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_a_time_or_a_duration_and_reads_back() {
        for (text, shown) in [
            ("2030-01-31T12:00:00+01:00", "2030-01-31T11:00:00Z"),
            ("2030-01-31T12:00:00.25Z", "2030-01-31T12:00:00.250Z"),
            ("90s", "1m30s"),
        ] {
            let since: Since = text.parse().unwrap();
            assert_eq!(since.to_string(), shown);
            assert_eq!(shown.parse(), Ok(since));
        }
        assert!("yesterday".parse::<Since>().is_err() && "10".parse::<Since>().is_err());
    }
}

//! Output of a task.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::SecondsFormat;
use domain::time::{Timestamp, format_duration, parse_duration};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// An output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// Its name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Stream {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = [Self::Stdout, Self::Stderr].into_iter().find(|stream| stream.as_str() == text);
        found.ok_or("expected stdout or stderr")
    }
}

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

/// A chunk of output. Text is split between characters, unless one was not written completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogChunk {
    /// Attempt.
    pub attempt: u32,
    /// Where to.
    pub stream: Stream,
    /// Sequence number within an attempt, over both streams.
    pub seq: u32,
    /// Offset of the first byte; a gap means bytes that were not stored.
    pub offset: u64,
    /// When it was stored.
    pub at: Timestamp,
    /// The bytes.
    pub data: Vec<u8>,
}

impl<'de> Deserialize<'de> for LogChunk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Shown {
            attempt: u32,
            stream: Stream,
            seq: u32,
            offset: u64,
            at: Timestamp,
            text: Option<String>,
            base64: Option<String>,
        }
        let Shown { attempt, stream, seq, offset, at, text, base64 } =
            Shown::deserialize(deserializer)?;
        let data = match (text, base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(base64)) => STANDARD.decode(base64).map_err(serde::de::Error::custom)?,
            (None, None) => return Err(serde::de::Error::missing_field("text")),
        };
        Ok(Self { attempt, stream, seq, offset, at, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &str) -> Result<LogChunk, serde_json::Error> {
        let start =
            r#"{"attempt":1,"stream":"stderr","seq":0,"offset":0,"at":"2030-01-31T12:00:00Z""#;
        serde_json::from_str(&format!("{start}{data}}}"))
    }

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

    #[test]
    fn bytes_come_as_text_or_as_base64() {
        assert_eq!(read(r#","text":"hi\n""#).unwrap().data, b"hi\n");
        assert_eq!(read(r#","base64":"//4=""#).unwrap().data, [0xff, 0xfe]);
        assert!(read("").is_err() && read(r#","base64":"?""#).is_err());
    }
}

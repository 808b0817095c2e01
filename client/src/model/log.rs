//! A piece of a task's output.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::time::Timestamp;
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::str::FromStr;

/// Where a command wrote to.
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

/// Which output is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// Of this attempt only.
    pub attempt: Option<u32>,
    /// Of this stream only.
    pub stream: Option<Stream>,
}

/// A piece of output, cut wherever the pipe was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogChunk {
    /// Which attempt wrote it.
    pub attempt: u32,
    /// Where to.
    pub stream: Stream,
    /// Counts up from 0 within an attempt's stream.
    pub seq: u32,
    /// Of the first byte; a jump means bytes that were not kept.
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
    fn bytes_come_as_text_or_as_base64() {
        assert_eq!(read(r#","text":"hi\n""#).unwrap().data, b"hi\n");
        assert_eq!(read(r#","base64":"//4=""#).unwrap().data, [0xff, 0xfe]);
        assert!(read("").is_err() && read(r#","base64":"?""#).is_err());
    }
}

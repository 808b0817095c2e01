//! Output of a task, and the events of one that is followed.

use crate::{DateTime, Extensible};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::task::State;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// An output stream.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = LogStream))]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// Every one.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
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
        let found = Self::ALL.iter().copied().find(|stream| stream.as_str() == text);
        found.ok_or("expected stdout or stderr")
    }
}

/// A chunk of output. In JSON the bytes are `text` if they are valid UTF-8, else `base64`.
///
/// Text is split between characters, unless one was not written completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogChunk {
    /// Attempt.
    pub attempt: u32,
    /// The stream.
    pub stream: Extensible<Stream>,
    /// Rises within an attempt, over both streams.
    pub seq: u32,
    /// Offset of the first byte; a gap means bytes that were not stored.
    pub offset: u64,
    /// When it was stored.
    pub at: DateTime,
    /// The bytes.
    pub data: Vec<u8>,
}

/// A chunk of output: `text` if it is valid UTF-8, else `base64`.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = LogChunk))]
pub struct LogChunkJson<'a> {
    attempt: u32,
    #[cfg_attr(feature = "openapi", schema(value_type = Stream))]
    stream: &'a Extensible<Stream>,
    /// Rises within an attempt, over both streams: the order in which they were read.
    seq: u32,
    /// Of the first byte.
    offset: u64,
    /// When it was stored.
    at: DateTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    base64: Option<String>,
}

impl Serialize for LogChunk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { attempt, stream, seq, offset, at, data } = self;
        let text = std::str::from_utf8(data).ok();
        let base64 = if text.is_none() { Some(STANDARD.encode(data)) } else { None };
        let (attempt, seq, offset, at) = (*attempt, *seq, *offset, *at);
        LogChunkJson { attempt, stream, seq, offset, at, text, base64 }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LogChunk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Received {
            attempt: u32,
            stream: Extensible<Stream>,
            seq: u32,
            offset: u64,
            at: DateTime,
            text: Option<String>,
            base64: Option<String>,
        }
        let Received { attempt, stream, seq, offset, at, text, base64 } =
            Received::deserialize(deserializer)?;
        let data = match (text, base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(base64)) => STANDARD.decode(base64).map_err(serde::de::Error::custom)?,
            (None, None) => return Err(serde::de::Error::missing_field("text")),
        };
        Ok(Self { attempt, stream, seq, offset, at, data })
    }
}

/// Data of the events `state` and `end`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FollowedState {
    /// Current state; in `end` the final one.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::State))]
    pub state: Extensible<State>,
    /// Its latest attempt; 0 before the first.
    pub attempt: u32,
    /// Exit code of the last attempt; in `end` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub exit_code: Option<i32>,
    /// Reason of its end; in `end` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

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

    #[test]
    fn a_stream_of_a_later_version_is_kept_as_it_came() {
        let json = r#"{"attempt":1,"stream":"trace","seq":0,"offset":0,"at":"2030-01-31T12:00:00Z","text":""}"#;
        let chunk: LogChunk = serde_json::from_str(json).unwrap();
        assert_eq!((chunk.stream.known(), chunk.stream.to_string().as_str()), (None, "trace"));
        assert_eq!(serde_json::to_value(&chunk).unwrap()["stream"], "trace");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_base64() {
        let shown = |data: &[u8]| -> Value {
            let chunk = LogChunk { data: data.to_vec(), ..read(r#","text":"""#).unwrap() };
            let json = serde_json::to_value(&chunk).unwrap();
            assert_eq!(serde_json::from_value::<LogChunk>(json.clone()).unwrap(), chunk);
            json
        };
        assert_eq!(shown("zwölf\0".as_bytes())["text"], "zwölf\0");
        assert!(shown(b"text").get("base64").is_none());
        assert_eq!(shown(&[0xff, 0xfe])["base64"], "//4=");
        assert!(shown(&[0xff]).get("text").is_none());
    }
}

//! A piece of output as it is shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::time::Timestamp;
use serde::Serialize;
use store::output::OutputChunk;
use utoipa::ToSchema;

/// A chunk of output: `text` if it is valid UTF-8, else `base64`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LogChunk)]
pub struct ChunkView<'a> {
    attempt: u32,
    #[schema(value_type = super::super::super::openapi::words::LogStream)]
    stream: &'static str,
    /// Rises within an attempt, over both streams: the order in which they were read.
    seq: u32,
    /// Of the first byte.
    offset: u64,
    /// When it was stored.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    base64: Option<String>,
}

impl<'a> From<&'a OutputChunk> for ChunkView<'a> {
    fn from(chunk: &'a OutputChunk) -> Self {
        let text = std::str::from_utf8(&chunk.data).ok();
        Self {
            attempt: chunk.attempt,
            stream: chunk.stream.as_str(),
            seq: chunk.seq,
            offset: chunk.offset,
            at: chunk.at,
            text,
            base64: if text.is_none() { Some(STANDARD.encode(&chunk.data)) } else { None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::output::Stream;

    fn chunk(data: &[u8]) -> OutputChunk {
        let at = Timestamp::UNIX_EPOCH;
        OutputChunk {
            attempt: 3,
            stream: Stream::Stderr,
            seq: 70_000,
            offset: 9,
            at,
            data: data.to_vec(),
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_base64() {
        let shown = |data: &[u8]| serde_json::to_value(ChunkView::from(&chunk(data))).unwrap();
        assert_eq!(shown("zwölf\0".as_bytes())["text"], "zwölf\0");
        assert!(shown(b"text").get("base64").is_none());
        assert_eq!(shown(&[0xff, 0xfe])["base64"], "//4=");
        assert!(shown(&[0xff]).get("text").is_none());
    }
}

//! The JSON value that a task returns.
//!
//! Checked by the executor, which tells the task's owner what is wrong, and again by the resource manager, which trusts no
//! executor. The text is kept as it was written: numbers of any size, escapes and repeated names stay as they are.

use serde::de::IgnoredAny;
use std::sync::Arc;
use thiserror::Error;

/// Most bytes of a result.
pub const MAX_RESULT_BYTES: usize = 64 * 1024;

/// Most arrays and objects inside each other: what `serde_json` reads into a value, and with it whoever is to use a part of a result.
pub const MAX_RESULT_DEPTH: usize = 127;

/// A JSON text of 1 to [`MAX_RESULT_BYTES`] bytes, without white space around it. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultValue(Arc<str>);

/// Why bytes are no result; a sentence without its subject.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidResult {
    /// More than [`MAX_RESULT_BYTES`]; how many.
    #[error("has {0} bytes; at most {MAX_RESULT_BYTES} are allowed")]
    TooLarge(u64),
    /// Not UTF-8: the first byte that is not, counted from 0.
    #[error("is not JSON: not UTF-8 from byte {0} on")]
    NotText(usize),
    /// Not JSON: what is wrong, and where.
    #[error("is not JSON: {0}")]
    NotJson(String),
    /// More than [`MAX_RESULT_DEPTH`] inside each other.
    #[error("has more than {MAX_RESULT_DEPTH} arrays and objects inside each other")]
    TooDeep,
}

impl ResultValue {
    /// The value in `bytes`, which may have white space around it.
    ///
    /// # Errors
    /// See [`InvalidResult`].
    pub fn read(bytes: &[u8]) -> Result<Self, InvalidResult> {
        if bytes.len() > MAX_RESULT_BYTES {
            return Err(InvalidResult::TooLarge(bytes.len() as u64));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|error| InvalidResult::NotText(error.valid_up_to()))?;
        // Neither recursive nor limited in the numbers that it takes.
        serde_json::from_str::<IgnoredAny>(text)
            .map_err(|error| InvalidResult::NotJson(error.to_string()))?;
        if depth(text) > MAX_RESULT_DEPTH {
            return Err(InvalidResult::TooDeep);
        }
        Ok(Self(text.trim_ascii().into()))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How many arrays and objects of a valid JSON text are inside each other at most.
fn depth(json: &str) -> usize {
    let (mut deepest, mut depth) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn error(bytes: &[u8]) -> String {
        ResultValue::read(bytes).unwrap_err().to_string()
    }

    #[test]
    fn what_is_json_is_kept_as_it_was_written() {
        for text in [
            "null",
            "0",
            r#""""#,
            "[]",
            r#"{"a":1,"a":2}"#,
            r#"{"zero":"\u0000","lone":"\ud800"}"#,
            "1e999999",
            "123456789012345678901234567890.10",
            r#"{ "b" : [ 1 , "]}" , "\"{" ] }"#,
        ] {
            assert_eq!(ResultValue::read(text.as_bytes()).unwrap().as_str(), text);
            let around = format!(" \r\n\t{text}\n");
            assert_eq!(ResultValue::read(around.as_bytes()).unwrap().as_str(), text);
        }
    }

    #[test]
    fn what_is_not_json_is_told_with_its_place() {
        assert_eq!(error(b""), "is not JSON: EOF while parsing a value at line 1 column 0");
        assert_eq!(error(b"hello"), "is not JSON: expected value at line 1 column 1");
        let two = error(b"{}\n{}");
        assert_eq!(two, "is not JSON: trailing characters at line 2 column 1");
        assert_eq!(error(b"\"\xff\""), "is not JSON: not UTF-8 from byte 1 on");
        for wrong in ["NaN", "{'a':1}", "[1,]", "01", "\"\u{0}\"", "\u{feff}1", "\"\\x\""] {
            assert!(error(wrong.as_bytes()).starts_with("is not JSON: "), "{wrong}");
        }
    }

    #[test]
    fn a_result_has_at_most_its_bytes_white_space_counted() {
        let text = format!("\"{}\"", "x".repeat(MAX_RESULT_BYTES - 2));
        assert_eq!(ResultValue::read(text.as_bytes()).unwrap().as_str(), text);
        let long = error(format!("{text}\n").as_bytes());
        assert_eq!(long, "has 65537 bytes; at most 65536 are allowed");
    }

    #[test]
    fn a_result_is_as_deep_as_a_reader_can_follow_and_no_deeper() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let deepest = nested(MAX_RESULT_DEPTH);
        assert_eq!(ResultValue::read(deepest.as_bytes()).unwrap().as_str(), deepest);
        assert!(serde_json::from_str::<Value>(&deepest).is_ok());
        for deeper in [MAX_RESULT_DEPTH + 1, MAX_RESULT_BYTES / 2] {
            let text = nested(deeper);
            assert!(serde_json::from_str::<Value>(&text).is_err());
            assert_eq!(ResultValue::read(text.as_bytes()), Err(InvalidResult::TooDeep));
        }
        // Next to each other, and in strings, is not inside each other.
        let flat = format!("[{}\"{}\"]", "[],".repeat(1000), "[".repeat(1000));
        assert!(ResultValue::read(flat.as_bytes()).is_ok());
    }
}

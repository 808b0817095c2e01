//! An HTTP call as a task, and which headers it may bring.
//!
//! What Berth itself says with a request stands in its own headers; a task cannot say it in its place, nor
//! change how the message is framed.

use super::completion::CompleteOn;
use super::success::SuccessRule;
use crate::time::optional_text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

/// Most headers of one task.
pub const MAX_HEADERS: usize = 64;
/// Longest name of a header, bytes.
pub const MAX_HEADER_NAME: usize = 128;
/// Longest value of a header, bytes.
pub const MAX_HEADER_VALUE: usize = 8192;

/// A call of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpRun {
    /// How it is called.
    pub method: HttpMethod,
    /// What is called; see [`crate::target::parse_url`].
    pub url: String,
    /// Sent as they are; see [`check_header`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// What is sent, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What is sent, in base64, instead of `body`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    /// Which answers are a success.
    #[serde(default)]
    pub success: SuccessRule,
    /// The longest the whole exchange may take; the execution cap holds besides.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "optional_text")]
    pub timeout: Option<Duration>,
    /// When its task is over.
    #[serde(default, skip_serializing_if = "CompleteOn::is_answer")]
    pub complete: CompleteOn,
}

/// A method that an HTTP task may use.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::IntoStaticStr,
)]
#[strum(serialize_all = "UPPERCASE")]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "each is the method of its name")]
pub enum HttpMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl HttpMethod {
    /// Every method.
    pub const ALL: [Self; 7] =
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];

    /// As it is sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A text is no method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")]
pub struct ParseMethodError;

impl FromStr for HttpMethod {
    type Err = ParseMethodError;

    fn from_str(text: &str) -> Result<Self, ParseMethodError> {
        Self::ALL.into_iter().find(|method| method.as_str() == text).ok_or(ParseMethodError)
    }
}

/// Why a header cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderProblem {
    /// Not a token.
    #[error(
        "must have a name of 1 to {MAX_HEADER_NAME} letters, digits and - _ . ! # $ % & ' * + ^ ` | ~"
    )]
    Name,
    /// Berth or the protocol says it.
    #[error("is set by Berth and cannot be given")]
    Reserved,
    /// Something that no header can carry.
    #[error(
        "must have a value of visible ASCII characters, spaces and tabs, not beginning or ending with one"
    )]
    Value,
    /// Over [`MAX_HEADER_VALUE`].
    #[error("must have a value of {MAX_HEADER_VALUE} bytes at most")]
    TooLong,
}

/// How the message is framed and routed, who sends it, and how often.
const RESERVED: [&str; 12] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "idempotency-key",
    "keep-alive",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
const RESERVED_PREFIXES: [&str; 2] = ["berth-", "proxy-"];

/// Checks one header of a task.
///
/// # Errors
/// What is wrong with it.
pub fn check_header(name: &str, value: &str) -> Result<(), HeaderProblem> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > MAX_HEADER_NAME || !name.bytes().all(token) {
        return Err(HeaderProblem::Name);
    }
    let name = name.to_ascii_lowercase();
    if RESERVED.contains(&name.as_str())
        || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    {
        return Err(HeaderProblem::Reserved);
    }
    if value.len() > MAX_HEADER_VALUE {
        return Err(HeaderProblem::TooLong);
    }
    let visible = |byte: u8| matches!(byte, b'\t' | b' '..=b'~');
    if !value.bytes().all(visible) || value.trim_matches([' ', '\t']) != value {
        return Err(HeaderProblem::Value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_headers_pass() {
        for (name, value) in
            [("Accept", "*/*"), ("X-Api_Key", "a b\tc"), ("authorization", "Bearer x"), ("a", "")]
        {
            assert_eq!(check_header(name, value), Ok(()), "{name}");
        }
        assert_eq!(
            check_header(&"a".repeat(MAX_HEADER_NAME), &"b".repeat(MAX_HEADER_VALUE)),
            Ok(())
        );
    }

    #[test]
    fn what_would_reframe_the_message_or_speak_for_berth_is_refused() {
        for name in [
            "Host",
            "Connection",
            "Content-Length",
            "Transfer-Encoding",
            "TE",
            "Expect",
            "Upgrade",
            "Proxy-Authorization",
            "Berth-Task-Id",
            "Berth-Due-At",
            "berth-schedule",
            "BERTH-anything",
            "Idempotency-Key",
            "traceparent",
        ] {
            assert_eq!(check_header(name, "x"), Err(HeaderProblem::Reserved), "{name}");
        }
        for name in ["", "a b", "a:", "a\r\nb", "é", &"a".repeat(MAX_HEADER_NAME + 1)] {
            assert_eq!(check_header(name, "x"), Err(HeaderProblem::Name), "{name}");
        }
        for value in ["a\r\nHost: b", "\0", "é", "\u{7f}", " a", "a\t"] {
            assert_eq!(check_header("a", value), Err(HeaderProblem::Value), "{value:?}");
        }
        let long = "b".repeat(MAX_HEADER_VALUE + 1);
        assert_eq!(check_header("a", &long), Err(HeaderProblem::TooLong));
    }

    #[test]
    fn methods_read_back_and_others_are_refused() {
        for method in HttpMethod::ALL {
            assert_eq!(method.as_str().parse(), Ok(method));
            assert_eq!(serde_json::to_string(&method).unwrap(), format!("\"{method}\""));
        }
        for text in ["", "get", "CONNECT", "TRACE", "GET "] {
            assert_eq!(text.parse::<HttpMethod>(), Err(ParseMethodError));
        }
    }
}

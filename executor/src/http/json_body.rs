//! The body of an answer as the value that its task returns.
//!
//! It is somebody else's server that answers: a body that is not declared as JSON, is none, or is too large, is no result,
//! and the call ends as it would without.

use domain::task::{MAX_RESULT_BYTES, ResultValue};
use egress::header::HeaderMap;

/// Collects a body as long as it can be a result.
#[derive(Debug)]
pub(super) struct JsonBody {
    /// None: it cannot be one.
    bytes: Option<Vec<u8>>,
    /// A body of so many bytes may go on, and is not read further.
    limit: u64,
}

impl JsonBody {
    pub(super) const fn new(limit: u64) -> Self {
        Self { bytes: None, limit }
    }

    /// An answer has come, in place of any before.
    pub(super) fn begin(&mut self, headers: &HeaderMap) {
        self.bytes = is_json(headers).then(Vec::new);
    }

    /// A piece of its body.
    pub(super) fn push(&mut self, data: &[u8]) {
        if let Some(bytes) = &mut self.bytes {
            if bytes.len() + data.len() > MAX_RESULT_BYTES {
                self.bytes = None;
            } else {
                bytes.extend_from_slice(data);
            }
        }
    }

    /// The value, once the whole body has come.
    pub(super) fn value(self) -> Option<ResultValue> {
        let bytes = self.bytes.filter(|bytes| (bytes.len() as u64) < self.limit)?;
        ResultValue::read(&bytes).ok()
    }
}

/// `application/json`, or what is written in it (`application/problem+json`); parameters do not matter.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get("content-type").and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    kind == "application/json" || (kind.contains('/') && kind.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returned(kind: Option<&str>, pieces: &[&[u8]], limit: u64) -> Option<String> {
        let mut headers = HeaderMap::new();
        if let Some(kind) = kind {
            headers.insert("content-type", kind.parse().unwrap());
        }
        let mut body = JsonBody::new(limit);
        body.begin(&headers);
        pieces.iter().for_each(|piece| body.push(piece));
        body.value().map(|value| value.as_str().to_owned())
    }

    #[test]
    fn what_is_declared_as_json_and_is_json_is_the_result() {
        let wanted = Some(r#"{"a":1}"#.to_owned());
        for kind in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/problem+json",
            "text/x+json;q=1",
        ] {
            assert_eq!(returned(Some(kind), &[b"{\"a\"", b":1}\n"], 1000), wanted, "{kind}");
        }
        for kind in
            [None, Some("text/plain"), Some("text/json"), Some("application/jsonp"), Some("+json")]
        {
            assert_eq!(returned(kind, &[b"{\"a\":1}"], 1000), None, "{kind:?}");
        }
    }

    #[test]
    fn what_is_none_or_too_large_or_cut_is_no_result() {
        let json = Some("application/json");
        for body in [&b""[..], b"{", b"<html>", b"\xff"] {
            assert_eq!(returned(json, &[body], 1000), None, "{body:?}");
        }
        let half = vec![b' '; MAX_RESULT_BYTES / 2];
        assert_eq!(returned(json, &[&half, &half[1..], b"7"], u64::MAX).as_deref(), Some("7"));
        assert_eq!(returned(json, &[&half, &half, b"7"], u64::MAX), None);
        // Cut off, a number is a number still.
        assert_eq!(returned(json, &[b"123"], 3), None);
        assert_eq!(returned(json, &[b"123"], 4).as_deref(), Some("123"));
    }

    #[test]
    fn only_the_last_answer_counts() {
        let mut headers = HeaderMap::new();
        let mut body = JsonBody::new(1000);
        headers.insert("content-type", "application/json".parse().unwrap());
        body.begin(&headers);
        body.push(b"1");
        body.begin(&HeaderMap::new());
        body.push(b"2");
        assert_eq!(body.value(), None);
    }
}

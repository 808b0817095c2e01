//! Reads a body up to its limit, and not one byte further.
//!
//! Called after authentication and before any parsing. A declared length over the limit is refused at
//! once; a chunked body without one is refused when it passes the limit.

use crate::problem::{Code, Problem};
use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use actix_web::web::{Bytes, BytesMut, Payload};
use futures::StreamExt;

/// Most room made before the first byte has come: a length is only a promise.
const FIRST_ROOM: usize = 64 * 1024;

/// What body a route takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyRule {
    /// None: what is sent is not read.
    None,
    /// Nothing or an empty object, 1 KiB at most.
    Empty,
    /// One task, `api.max_task_bytes` at most.
    Task,
    /// Many tasks, `api.max_batch_bytes` at most.
    Batch,
}

/// The whole body, at most `limit` bytes.
pub(crate) async fn read_body(
    request: &HttpRequest,
    mut payload: Payload,
    rule: BodyRule,
    limit: usize,
) -> Result<Bytes, Problem> {
    let headers = request.headers();
    let declared = declared_length(headers)?;
    if declared.is_some_and(|length| length > limit as u64) {
        return Err(too_large(limit));
    }
    if rule != BodyRule::Empty {
        check_type(headers)?;
    }
    check_encoding(headers)?;
    let room =
        declared.map_or(0, |length| usize::try_from(length).unwrap_or(FIRST_ROOM)).min(FIRST_ROOM);
    let mut first: Option<Bytes> = None;
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| {
            Problem::new(Code::InvalidJson, "The body ended before it was complete.")
        })?;
        let so_far = body.len() + first.as_ref().map_or(0, Bytes::len);
        if so_far + chunk.len() > limit {
            return Err(too_large(limit));
        }
        // Most bodies come in one piece: then nothing is copied.
        if so_far == 0 {
            first = Some(chunk);
        } else {
            if let Some(first) = first.take() {
                body.reserve(room.max(so_far + chunk.len()));
                body.extend_from_slice(&first);
            }
            body.extend_from_slice(&chunk);
        }
    }
    Ok(first.unwrap_or_else(|| body.freeze()))
}

fn declared_length(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(header) = headers.get(CONTENT_LENGTH) else { return Ok(None) };
    let length = header.to_str().ok().and_then(|text| text.parse().ok());
    length.map(Some).ok_or_else(|| {
        Problem::at(Code::InvalidParameter, "header:Content-Length", "must be a whole number")
    })
}

fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new(
        Code::UnsupportedMediaType,
        "Send the body with `Content-Type: application/json`.",
    ))
}

/// Limits count plain bytes: a compressed body could be a thousand times what it seems.
fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let plain = |value: &str| value.is_empty() || value.eq_ignore_ascii_case("identity");
    if headers.get_all(CONTENT_ENCODING).all(|value| value.to_str().is_ok_and(plain)) {
        return Ok(());
    }
    Err(Problem::new(Code::UnsupportedMediaType, "Compressed bodies are not taken; send it plain."))
}

fn too_large(limit: usize) -> Problem {
    Problem::new(Code::PayloadTooLarge, format!("The body may have {limit} bytes at most."))
}

//! Writes answers: JSON, or a problem as `application/problem+json`.
//!
//! The only place that turns a `Problem` into bytes. The cause never gets here.

use crate::problem::{Code, Problem};
use crate::request::RequestId;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, ETAG, RETRY_AFTER, WWW_AUTHENTICATE};
use serde::Serialize;
use std::io::Write;

/// A JSON answer.
///
/// # Errors
/// `internal` when the value cannot be written, which would be a bug.
pub fn json<T: Serialize>(status: StatusCode, value: &T) -> Result<HttpResponse, Problem> {
    Ok(raw_json(status, to_json(value)?))
}

/// A value as JSON.
///
/// # Errors
/// `internal` when it cannot be written, which would be a bug.
pub fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    let mut body = Vec::with_capacity(1024);
    write_json(&mut body, value)?;
    Ok(body)
}

/// The length of a value as JSON.
///
/// # Errors
/// As [`to_json`].
pub fn json_bytes<T: Serialize>(value: &T) -> Result<usize, Problem> {
    let mut counter = Counter(0);
    write_json(&mut counter, value)?;
    Ok(counter.0)
}

/// Counts what is written.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn write_json<T: Serialize>(to: impl Write, value: &T) -> Result<(), Problem> {
    serde_json::to_writer(to, value)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error))
}

/// An answer that is JSON already.
#[must_use]
pub fn raw_json(status: StatusCode, body: Vec<u8>) -> HttpResponse {
    HttpResponse::build(status).content_type("application/json").body(body)
}

/// A JSON answer of an object that has a version, which is its `ETag`.
///
/// # Errors
/// As [`to_json`].
pub fn versioned<T: Serialize>(
    status: StatusCode,
    version: i64,
    value: &T,
) -> Result<HttpResponse, Problem> {
    let mut answer = raw_json(status, to_json(value)?);
    if let Ok(tag) = format!("\"{version}\"").parse() {
        answer.headers_mut().insert(ETAG, tag);
    }
    Ok(answer)
}

/// The answer that tells a problem.
#[must_use]
pub fn problem(problem: &Problem, request_id: RequestId) -> HttpResponse {
    let row = problem.code().info();
    let status = StatusCode::from_u16(row.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = HttpResponse::build(status);
    answer.content_type("application/problem+json");
    if status == StatusCode::UNAUTHORIZED {
        answer.insert_header((WWW_AUTHENTICATE, "Bearer realm=\"berth\""));
    }
    if let Some(seconds) = problem.retry_after() {
        answer.insert_header((RETRY_AFTER, seconds));
    }
    if let Some(methods) = problem.allow() {
        answer.insert_header((ALLOW, methods));
    }
    answer.body(serde_json::to_vec(&problem.shown(Some(request_id))).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RequestIds;

    #[test]
    fn a_problem_has_the_fields_of_the_standard_and_its_headers() {
        let id = RequestIds::new().next();
        let answer = problem(&Problem::at(Code::ValidationFailed, "/name", "is too long"), id);
        assert_eq!(answer.status().as_u16(), 422);
        assert_eq!(answer.headers().get("content-type").unwrap(), "application/problem+json");
        let shown = Problem::at(Code::ValidationFailed, "/name", "is too long");
        let json = serde_json::to_value(shown.shown(Some(id))).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "type": "urn:berth:problem:validation_failed", "title": "The request is invalid",
                "status": 422, "detail": "/name: is too long", "code": "validation_failed",
                "retryable": false, "request_id": id.to_string(),
                "errors": [{"pointer": "/name", "detail": "is too long"}],
            })
        );
        let busy = problem(&Problem::new(Code::Overloaded, "x"), id);
        assert_eq!(busy.headers().get("retry-after").unwrap(), "1");
        let nobody = problem(&Problem::new(Code::Unauthenticated, "x"), id);
        assert!(nobody.headers().contains_key("www-authenticate"));
    }
}

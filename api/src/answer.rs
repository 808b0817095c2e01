//! Writes answers: JSON, or a problem as `application/problem+json`.
//!
//! The only place that turns a `Problem` into bytes. The cause never gets here.

use crate::problem::{FieldError, Problem};
use crate::request::RequestId;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, ETAG, RETRY_AFTER, WWW_AUTHENTICATE};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

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
    append_json(&mut body, value)?;
    Ok(body)
}

/// Appends a value as JSON.
///
/// # Errors
/// As [`to_json`].
pub fn append_json<T: Serialize>(body: &mut Vec<u8>, value: &T) -> Result<(), Problem> {
    serde_json::to_writer(body, value).map_err(|error| {
        Problem::new(crate::problem::Code::Internal, crate::problem::Code::Internal.advice())
            .caused_by(&error)
    })
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
    let shown = ShownProblem { problem, request_id: Some(request_id) };
    answer.body(serde_json::to_vec(&shown).unwrap_or_default())
}

/// A problem in JSON. Inside a batch's answer it has no request id of its own.
#[derive(Debug)]
pub struct ShownProblem<'a> {
    /// What went wrong.
    pub problem: &'a Problem,
    /// The request it is the answer of.
    pub request_id: Option<RequestId>,
}

impl Serialize for ShownProblem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = self.problem.code().info();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &format_args!("urn:berth:problem:{}", row.code))?;
        map.serialize_entry("title", row.title)?;
        map.serialize_entry("status", &row.status)?;
        map.serialize_entry("detail", self.problem.detail())?;
        map.serialize_entry("code", row.code)?;
        map.serialize_entry("retryable", &row.retryable)?;
        if let Some(id) = self.request_id {
            map.serialize_entry("request_id", &format_args!("{id}"))?;
        }
        if let Some(limited) = self.problem.met() {
            map.serialize_entry("limit", limited.limit)?;
            map.serialize_entry("retry_at", &limited.retry_at)?;
            if let Some(plan) = &limited.lifted_by {
                map.serialize_entry("lifted_by", plan)?;
            }
        }
        if !self.problem.errors().is_empty() {
            let errors: Vec<ShownError<'_>> =
                self.problem.errors().iter().map(ShownError::from).collect();
            map.serialize_entry("errors", &errors)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct ShownError<'a> {
    pointer: &'a str,
    detail: &'a str,
}

impl<'a> From<&'a FieldError> for ShownError<'a> {
    fn from(error: &'a FieldError) -> Self {
        Self { pointer: &error.pointer, detail: &error.detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Code;
    use crate::request::RequestIds;

    #[test]
    fn a_problem_has_the_fields_of_the_standard_and_its_headers() {
        let id = RequestIds::new().next();
        let answer = problem(&Problem::at(Code::ValidationFailed, "/name", "is too long"), id);
        assert_eq!(answer.status().as_u16(), 422);
        assert_eq!(answer.headers().get("content-type").unwrap(), "application/problem+json");
        let shown = Problem::at(Code::ValidationFailed, "/name", "is too long");
        let json =
            serde_json::to_value(ShownProblem { problem: &shown, request_id: Some(id) }).unwrap();
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

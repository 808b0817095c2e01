//! Writes answers: JSON, or a problem as `application/problem+json`.
//!
//! The only place that turns a `Problem` into bytes. The cause never gets here.

use crate::problem::{Code, Problem};
use crate::request::RequestId;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    ALLOW, ETAG, HeaderName, HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use serde::Serialize;
use std::borrow::Cow;
use std::io::Write;

static REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What a handler gives back: written once, by the table of routes.
pub trait Render {
    /// The answer in bytes.
    ///
    /// # Errors
    /// `internal` when it cannot be written, which would be a bug.
    fn render(self) -> Result<HttpResponse, Problem>;
}

/// Streams, documents, and what is written already.
impl Render for HttpResponse {
    fn render(self) -> Result<HttpResponse, Problem> {
        Ok(self)
    }
}

/// An answer that is a `T`, as JSON.
#[derive(Debug)]
pub struct Answer<T> {
    status: StatusCode,
    /// Of an object that has versions: its `ETag`.
    version: Option<i64>,
    /// Path of the object.
    location: Option<String>,
    /// It answers a request that was answered before.
    is_replayed: bool,
    body: Body<T>,
}

#[derive(Debug)]
enum Body<T> {
    Value(T),
    /// JSON already: written where there was time to, or kept for a request with the same `Idempotency-Key`.
    Written(Vec<u8>),
}

impl<T> Answer<T> {
    /// An answer with this status.
    #[must_use]
    pub const fn new(status: StatusCode, value: T) -> Self {
        Self::of(status, Body::Value(value))
    }

    const fn of(status: StatusCode, body: Body<T>) -> Self {
        Self { status, version: None, location: None, is_replayed: false, body }
    }

    /// 200.
    #[must_use]
    pub const fn ok(value: T) -> Self {
        Self::new(StatusCode::OK, value)
    }

    /// 201.
    #[must_use]
    pub const fn created(value: T) -> Self {
        Self::new(StatusCode::CREATED, value)
    }

    /// 202.
    #[must_use]
    pub const fn accepted(value: T) -> Self {
        Self::new(StatusCode::ACCEPTED, value)
    }

    /// An object in this version, which is its `ETag`.
    #[must_use]
    pub const fn versioned(status: StatusCode, version: i64, value: T) -> Self {
        let mut answer = Self::new(status, value);
        answer.version = Some(version);
        answer
    }

    /// 200, with a `T` that is JSON already.
    #[must_use]
    pub const fn written(body: Vec<u8>) -> Self {
        Self::of(StatusCode::OK, Body::Written(body))
    }

    /// What was answered to the same request before.
    #[must_use]
    pub fn replayed(status: u16, body: Vec<u8>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
        Self::of(status, Body::Written(body)).again()
    }

    /// JSON that is written already, to a request that was not answered before.
    #[must_use]
    pub fn first(self) -> Self {
        Self { is_replayed: false, ..self }
    }

    /// The same, of an object with this path.
    #[must_use]
    pub fn at(self, location: String) -> Self {
        Self { location: Some(location), ..self }
    }

    /// The same, to a request that was answered before.
    #[must_use]
    pub fn again(self) -> Self {
        Self { is_replayed: true, ..self }
    }
}

impl<T: Serialize> Answer<T> {
    /// What is kept for a request with the same `Idempotency-Key`: status and body.
    ///
    /// # Errors
    /// As [`to_json`].
    pub fn kept(&self) -> Result<(u16, Cow<'_, [u8]>), Problem> {
        let body = match &self.body {
            Body::Value(value) => to_json(value)?.into(),
            Body::Written(body) => body.into(),
        };
        Ok((self.status.as_u16(), body))
    }
}

impl<T: Serialize> Render for Answer<T> {
    fn render(self) -> Result<HttpResponse, Problem> {
        let body = match self.body {
            Body::Value(value) => to_json(&value)?,
            Body::Written(body) => body,
        };
        let mut answer = raw_json(self.status, body);
        let headers = answer.headers_mut();
        if let Some(tag) = self.version.and_then(|version| format!("\"{version}\"").parse().ok()) {
            headers.insert(ETAG, tag);
        }
        if let Some(location) = self.location.and_then(|path| path.try_into().ok()) {
            headers.insert(LOCATION, location);
        }
        if self.is_replayed {
            headers.insert(REPLAYED.clone(), HeaderValue::from_static("true"));
        }
        Ok(answer)
    }
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

fn raw_json(status: StatusCode, body: Vec<u8>) -> HttpResponse {
    HttpResponse::build(status).content_type("application/json").body(body)
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

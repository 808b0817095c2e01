//! Errors of calls, by what the caller can do about them.

use serde::Deserialize;
use std::fmt;
use std::time::Duration;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server's URL or the API key is invalid.
    #[error("{0}")]
    Settings(String),
    /// No response: connection refused, broken or timed out. The outcome of a write is unknown.
    #[error("{server} does not answer (tried {tries} times)")]
    Unreachable {
        /// The server's URL, without secrets.
        server: String,
        /// Number of attempts.
        tries: u32,
        /// Error of the last attempt.
        #[source]
        source: reqwest::Error,
    },
    /// The server returned a problem.
    #[error(transparent)]
    Api(#[from] Box<ApiError>),
    /// Responses were repeatedly incomplete.
    #[error("{server} was cut off in the middle of its answer (tried {tries} times)")]
    Cut {
        /// The server's URL, without secrets.
        server: String,
        /// Number of attempts since the last progress.
        tries: u32,
    },
    /// The response is not from the API, or from another version.
    #[error("{server} gave an answer that cannot be read as the API's")]
    UnexpectedResponse {
        /// The server's URL, without secrets.
        server: String,
        /// The parse error.
        #[source]
        source: serde_json::Error,
    },
}

impl ClientError {
    /// The problem, if the server returned one.
    #[must_use]
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            Self::Settings(_)
            | Self::Unreachable { .. }
            | Self::Cut { .. }
            | Self::UnexpectedResponse { .. } => None,
        }
    }
}

/// A problem document (RFC 9457), as the API gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// HTTP status.
    pub status: u16,
    /// For programs, such as `validation_failed`; empty if the response is not from the API.
    pub code: String,
    /// Short, the same for each occurrence.
    pub title: String,
    /// What went wrong this time.
    pub detail: String,
    /// The same request may succeed later.
    pub retryable: bool,
    /// For the operator's log.
    pub request_id: Option<String>,
    /// The invalid fields.
    pub errors: Vec<FieldError>,
    /// `Retry-After` of the response.
    pub retry_after: Option<Duration>,
}

/// One invalid field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FieldError {
    /// JSON pointer into the body, `query:<name>` or `header:<name>`.
    pub pointer: String,
    /// What is wrong and what is expected.
    pub detail: String,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.detail.is_empty() { &self.title } else { &self.detail };
        write!(
            f,
            "{text} ({}{}{})",
            self.status,
            if self.code.is_empty() { "" } else { " " },
            self.code
        )
    }
}

impl std::error::Error for ApiError {}

/// Fields of the document; a proxy's page has none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Problem {
    code: String,
    title: String,
    detail: String,
    retryable: Option<bool>,
    request_id: Option<String>,
    errors: Vec<FieldError>,
}

/// A problem within a batch's results.
impl<'de> Deserialize<'de> for ApiError {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Whole {
            status: u16,
            #[serde(flatten)]
            problem: Problem,
        }
        let Whole { status, problem } = Whole::deserialize(deserializer)?;
        Ok(problem.into_error(status, None))
    }
}

impl Problem {
    /// Parses an error body; without a problem document only the status is set.
    pub(crate) fn read(
        status: reqwest::StatusCode,
        body: &[u8],
        retry_after: Option<Duration>,
    ) -> ApiError {
        let mut problem: Self = serde_json::from_slice(body).unwrap_or_default();
        if problem.title.is_empty() {
            problem.title =
                status.canonical_reason().unwrap_or("an error without a name").to_owned();
        }
        problem.into_error(status.as_u16(), retry_after)
    }

    fn into_error(self, status: u16, retry_after: Option<Duration>) -> ApiError {
        ApiError {
            status,
            // The response of a proxy has no such field.
            retryable: self.retryable.unwrap_or(matches!(status, 429 | 502 | 503 | 504)),
            code: self.code,
            title: self.title,
            detail: self.detail,
            request_id: self.request_id,
            errors: self.errors,
            retry_after,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::StatusCode;

    #[test]
    fn a_problem_document_is_read_field_by_field() {
        let body = br#"{"type":"urn:berth:problem:validation_failed","title":"The request is invalid","status":422,
            "detail":"/name: is too long","code":"validation_failed","retryable":false,"request_id":"req_1",
            "errors":[{"pointer":"/name","detail":"is too long"}],"new_field":1}"#;
        let error = Problem::read(StatusCode::UNPROCESSABLE_ENTITY, body, None);
        assert_eq!(
            (error.status, error.code.as_str(), error.retryable),
            (422, "validation_failed", false)
        );
        assert_eq!(error.errors[0].pointer, "/name");
        assert_eq!(error.request_id.as_deref(), Some("req_1"));
        assert_eq!(error.to_string(), "/name: is too long (422 validation_failed)");
    }

    #[test]
    fn a_proxys_page_is_an_error_with_its_status() {
        let error = Problem::read(StatusCode::BAD_GATEWAY, b"<html>Bad Gateway</html>", None);
        assert_eq!((error.status, error.retryable), (502, true));
        assert_eq!(error.to_string(), "Bad Gateway (502)");
    }
}

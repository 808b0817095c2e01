//! Errors of calls, by what the caller can do about them.

use api_types::{ErrorCode, Extensible, FieldError, Problem, RequestId};
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
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError {
    /// HTTP status.
    pub status: u16,
    /// For programs; `None` if the response is not from the API.
    pub code: Option<Extensible<ErrorCode>>,
    /// Short, the same for each occurrence.
    pub title: String,
    /// What went wrong this time.
    pub detail: String,
    /// The same request may succeed later.
    pub retryable: bool,
    /// For the operator's log.
    pub request_id: Option<RequestId>,
    /// The invalid fields.
    pub errors: Vec<FieldError>,
    /// `Retry-After` of the response.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.detail.is_empty() { &self.title } else { &self.detail };
        match &self.code {
            Some(code) => write!(f, "{text} ({} {code})", self.status),
            None => write!(f, "{text} ({})", self.status),
        }
    }
}

impl std::error::Error for ApiError {}

impl ApiError {
    /// Whether it has this code.
    #[must_use]
    pub fn is(&self, code: ErrorCode) -> bool {
        self.code.as_ref().is_some_and(|known| *known == code)
    }

    /// Parses an error body; of one that is no problem document, such as a proxy's page, only the status is known.
    pub(crate) fn read(
        status: reqwest::StatusCode,
        body: &[u8],
        retry_after: Option<Duration>,
    ) -> Self {
        if let Ok(problem) = serde_json::from_slice::<Problem>(body) {
            return Self { status: status.as_u16(), retry_after, ..problem.into() };
        }
        Self {
            status: status.as_u16(),
            code: None,
            title: status.canonical_reason().unwrap_or("an error without a name").to_owned(),
            detail: String::new(),
            retryable: matches!(status.as_u16(), 429 | 502 | 503 | 504),
            request_id: None,
            errors: Vec::new(),
            retry_after,
        }
    }
}

/// A problem within a batch's results.
impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        Self {
            status: problem.status,
            code: Some(problem.code),
            title: problem.title.into_owned(),
            detail: problem.detail,
            retryable: problem.retryable,
            request_id: problem.request_id,
            errors: problem.errors,
            retry_after: None,
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
        let error = ApiError::read(StatusCode::UNPROCESSABLE_ENTITY, body, None);
        assert_eq!(
            (error.status, error.is(ErrorCode::ValidationFailed), error.retryable),
            (422, true, false)
        );
        assert_eq!(error.errors[0].pointer, "/name");
        assert_eq!(error.request_id, Some("req_1".into()));
        assert_eq!(error.to_string(), "/name: is too long (422 validation_failed)");
    }

    #[test]
    fn a_proxys_page_is_an_error_with_its_status() {
        let error = ApiError::read(StatusCode::BAD_GATEWAY, b"<html>Bad Gateway</html>", None);
        assert_eq!((error.status, error.retryable), (502, true));
        assert_eq!(error.to_string(), "Bad Gateway (502)");
    }
}

//! Why a call did not give what was asked for, by what the caller can do about it.

use serde::Deserialize;
use std::fmt;
use std::time::Duration;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server's URL or the API key cannot be used.
    #[error("{0}")]
    Settings(String),
    /// No answer: nobody listens, the connection broke, or it took too long. A write may have happened or not.
    #[error("{server} does not answer (tried {tries} times)")]
    Unreachable {
        /// The server's URL, without what may be secret in it.
        server: String,
        /// How often it was tried.
        tries: u32,
        /// What the last try ended with.
        #[source]
        source: reqwest::Error,
    },
    /// The server answered with a problem.
    #[error(transparent)]
    Api(#[from] Box<ApiError>),
    /// An answer began and did not come to its end, again and again.
    #[error("{server} was cut off in the middle of its answer (tried {tries} times)")]
    Cut {
        /// The server's URL, without what may be secret in it.
        server: String,
        /// How often it was tried since it last went on.
        tries: u32,
    },
    /// What answered is not the API, or another version of it.
    #[error("{server} gave an answer that cannot be read as the API's")]
    Answer {
        /// The server's URL, without what may be secret in it.
        server: String,
        /// What does not fit.
        #[source]
        source: serde_json::Error,
    },
}

impl ClientError {
    /// The problem, where the server told one.
    #[must_use]
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            Self::Settings(_)
            | Self::Unreachable { .. }
            | Self::Cut { .. }
            | Self::Answer { .. } => None,
        }
    }
}

/// A problem document (RFC 9457), as the API gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// HTTP status.
    pub status: u16,
    /// For programs, such as `validation_failed`; empty when what answered was not the API.
    pub code: String,
    /// Short, the same for each occurrence.
    pub title: String,
    /// What went wrong this time.
    pub detail: String,
    /// The same request may succeed later.
    pub retryable: bool,
    /// For the operator's log.
    pub request_id: Option<String>,
    /// The places of the mistakes.
    pub errors: Vec<FieldError>,
    /// How long the server asks to wait before another try.
    pub retry_after: Option<Duration>,
}

/// One mistake in a request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FieldError {
    /// JSON pointer into the body, `query:<name>` or `header:<name>`.
    pub pointer: String,
    /// What is wrong, and what would be right.
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

/// The document's fields; a proxy's page has none of them.
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
    /// Reads an error's body; one that is no problem document still has its status.
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
            // What a proxy before the API says has no such field.
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

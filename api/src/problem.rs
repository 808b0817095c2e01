//! THE error table: what a client is told when something goes wrong (RFC 9457).
//!
//! Every handler fails with a [`Problem`]; the match over [`Code`] here is the only place that knows
//! statuses, titles and what is worth retrying. The client gets a code and a sentence it can act on; the
//! cause travels beside it, into the log only.

use domain::time::Timestamp;
use runtime::error_chain::ErrorChain;
use std::borrow::Cow;
use std::error::Error;
use store::StoreError;

/// Error code, for programs. Its text never changes; docs/errors.md lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The body is no JSON.
    InvalidJson,
    /// A query parameter or header is not usable.
    InvalidParameter,
    /// The cursor was not made by this list, for this tenant and these filters.
    InvalidCursor,
    /// No good API key.
    Unauthenticated,
    /// The key may not do this.
    ScopeMissing,
    /// A tenant's key on an operators' route, or the other way round.
    WrongKindOfKey,
    /// The tenant is suspended, and this is new work.
    TenantSuspended,
    /// No such thing, or another tenant's.
    NotFound,
    /// No such route.
    RouteNotFound,
    /// The route exists, with other methods.
    MethodNotAllowed,
    /// The thing is not in a state for this, or its name is taken.
    Conflict,
    /// The thing is in another version than `If-Match` says.
    VersionMismatch,
    /// The body is over its limit.
    PayloadTooLarge,
    /// The body is not declared as plain JSON.
    UnsupportedMediaType,
    /// Fields are unknown, of the wrong type or out of range.
    ValidationFailed,
    /// Fields ask for what this version does not do yet.
    NotAvailable,
    /// A tenant with owners keeps one.
    LastOwner,
    /// The API key was replaced before.
    AlreadyRotated,
    /// The idempotency key was used before with another body.
    IdempotencyKeyReuse,
    /// The tenant has as much as its plan allows.
    QuotaExceeded,
    /// A peer or a tenant sends more than its rate.
    RateLimited,
    /// Too many tries to sign in.
    TooManyAttempts,
    /// As many live streams are open as the tenant may have.
    TooManyStreams,
    /// As many requests of the tenant run, and wait, as may.
    TooManyAtOnce,
    /// The tenant's bodies and answers hold as much memory of the process as one's may.
    TooMuchInMemory,
    /// A bug or a broken database. The log says more.
    Internal,
    /// More work than this process can queue.
    Overloaded,
    /// The database cannot be reached.
    Unavailable,
    /// The connection broke during the commit: it may have happened or not.
    OutcomeUnknown,
    /// It took too long.
    Timeout,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code as text.
    pub code: &'static str,
    /// HTTP status.
    pub status: u16,
    /// Short, the same for each occurrence.
    pub title: &'static str,
    /// The same request may succeed later.
    pub retryable: bool,
}

impl Code {
    /// Every code, in the order of statuses.
    pub const ALL: [Self; 30] = [
        Self::InvalidJson,
        Self::InvalidParameter,
        Self::InvalidCursor,
        Self::Unauthenticated,
        Self::ScopeMissing,
        Self::WrongKindOfKey,
        Self::TenantSuspended,
        Self::NotFound,
        Self::RouteNotFound,
        Self::MethodNotAllowed,
        Self::Conflict,
        Self::VersionMismatch,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::ValidationFailed,
        Self::NotAvailable,
        Self::LastOwner,
        Self::AlreadyRotated,
        Self::IdempotencyKeyReuse,
        Self::TooManyAttempts,
        Self::QuotaExceeded,
        Self::RateLimited,
        Self::TooManyStreams,
        Self::TooManyAtOnce,
        Self::TooMuchInMemory,
        Self::Internal,
        Self::Overloaded,
        Self::Unavailable,
        Self::OutcomeUnknown,
        Self::Timeout,
    ];

    /// The table.
    #[must_use]
    pub const fn info(self) -> CodeInfo {
        let (code, status, title, retryable) = match self {
            Self::InvalidJson => ("invalid_json", 400, "The body is not valid JSON", false),
            Self::InvalidParameter => ("invalid_parameter", 400, "A parameter is invalid", false),
            Self::InvalidCursor => {
                ("invalid_cursor", 400, "The cursor is invalid for this list", false)
            }
            Self::Unauthenticated => ("unauthenticated", 401, "A valid API key is required", false),
            Self::ScopeMissing => ("scope_missing", 403, "The API key lacks a scope", false),
            Self::WrongKindOfKey => {
                ("wrong_kind_of_key", 403, "The credential is not for this kind of route", false)
            }
            Self::TenantSuspended => ("tenant_suspended", 403, "The account is suspended", false),
            Self::NotFound => ("not_found", 404, "Not found", false),
            Self::RouteNotFound => ("route_not_found", 404, "Route not found", false),
            Self::MethodNotAllowed => ("method_not_allowed", 405, "Method not allowed", false),
            Self::Conflict => ("conflict", 409, "Conflict with the current state", false),
            Self::VersionMismatch => ("version_mismatch", 412, "Version mismatch", false),
            Self::PayloadTooLarge => ("payload_too_large", 413, "The body is too large", false),
            Self::UnsupportedMediaType => {
                ("unsupported_media_type", 415, "Unsupported content type", false)
            }
            Self::ValidationFailed => ("validation_failed", 422, "The request is invalid", false),
            Self::NotAvailable => ("not_available", 422, "This is not available yet", false),
            Self::LastOwner => ("last_owner", 422, "A tenant needs at least one owner", false),
            Self::AlreadyRotated => {
                ("already_rotated", 422, "The API key was already replaced", false)
            }
            Self::IdempotencyKeyReuse => (
                "idempotency_key_reuse",
                422,
                "The idempotency key was used for another request",
                false,
            ),
            Self::QuotaExceeded => ("quota_exceeded", 429, "A quota of the plan is used up", true),
            Self::RateLimited => ("rate_limited", 429, "A rate limit was exceeded", true),
            Self::TooManyAttempts => ("too_many_attempts", 429, "Too many sign-in attempts", true),
            Self::TooManyStreams => {
                ("too_many_streams", 429, "Too many live streams are open", true)
            }
            Self::TooManyAtOnce => ("too_many_at_once", 429, "Too many concurrent requests", true),
            Self::TooMuchInMemory => (
                "too_much_in_memory",
                429,
                "Too many bytes of requests and responses in memory",
                true,
            ),
            Self::Internal => ("internal", 500, "Internal error", false),
            Self::Overloaded => ("overloaded", 503, "The service is overloaded", true),
            Self::Unavailable => {
                ("unavailable", 503, "The service is temporarily unavailable", true)
            }
            Self::OutcomeUnknown => ("outcome_unknown", 503, "The outcome is unknown", true),
            Self::Timeout => ("timeout", 503, "The request timed out", true),
        };
        CodeInfo { code, status, title, retryable }
    }

    /// What a failed statement means to a client.
    #[must_use]
    pub const fn of_store(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::Standby => Self::Unavailable,
            StoreError::Busy | StoreError::Contended => Self::Overloaded,
            StoreError::TenantBusy => Self::TooManyAtOnce,
            StoreError::Timeout => Self::Timeout,
            StoreError::Malformed { .. }
            | StoreError::Database(_)
            | StoreError::Config(_)
            | StoreError::Role(_)
            | StoreError::Migrate(_) => Self::Internal,
        }
    }
}

/// One mistake in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) into the body; `query:<name>` or `header:<name>` for what is not in it.
    pub pointer: String,
    /// What is wrong and what is expected.
    pub detail: String,
}

/// Characters of a client's own text that are said back.
const MOST_OF_A_NAME: usize = 200;

/// Which limit was met, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limited {
    /// The limit's name.
    pub limit: &'static str,
    /// When there is something again.
    pub retry_at: Timestamp,
    /// The same in whole seconds from now, at least 1.
    pub retry_after: u32,
    /// The plan that allows more.
    pub lifted_by: Option<String>,
}

/// Why a request was refused. One pointer wide, because it travels in every `Result`.
#[derive(Debug)]
pub struct Problem(Box<Parts>);

#[derive(Debug)]
struct Parts {
    code: Code,
    detail: Cow<'static, str>,
    errors: Vec<FieldError>,
    allow: Option<String>,
    wait: Option<u32>,
    cause: Option<String>,
    limited: Option<Limited>,
    /// What kind of object does not exist, until it is named.
    missing: Option<&'static str>,
}

impl Problem {
    /// A problem with a sentence for people.
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        let detail = detail.into();
        let (errors, allow, wait, cause) = (Vec::new(), None, None, None);
        let (limited, missing) = (None, None);
        Self(Box::new(Parts { code, detail, errors, allow, wait, cause, limited, missing }))
    }

    /// A problem with one place.
    pub fn at(code: Code, pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::with_errors(code, vec![FieldError { pointer: pointer.into(), detail: detail.into() }])
    }

    /// A problem with its places; the first one's sentence is the whole's.
    #[must_use]
    pub fn with_errors(code: Code, errors: Vec<FieldError>) -> Self {
        let detail = match errors.as_slice() {
            [] => code.info().title.to_owned(),
            [only] => format!("{}: {}", shown(&only.pointer), only.detail),
            [first, rest @ ..] => {
                format!("{}: {} (and {} more)", shown(&first.pointer), first.detail, rest.len())
            }
        };
        let mut problem = Self::new(code, detail);
        problem.0.errors = errors;
        problem
    }

    /// The same, keeping why for the log.
    #[must_use]
    pub fn caused_by(mut self, cause: &(dyn Error + 'static)) -> Self {
        self.0.cause = Some(ErrorChain(cause).to_string());
        self
    }

    /// The same, worth trying again after so many seconds and not before.
    #[must_use]
    pub fn waiting(mut self, seconds: u32) -> Self {
        self.0.wait = Some(seconds);
        self
    }

    /// The same, with the methods that the route has.
    #[must_use]
    pub fn allowing(mut self, methods: String) -> Self {
        self.0.allow = Some(methods);
        self
    }

    /// The same, with the limit that was met.
    #[must_use]
    pub fn limited(mut self, limited: Limited) -> Self {
        self.0.limited = Some(limited);
        self
    }

    /// "Not found", in the same words for a foreign, an unknown and a malformed id.
    #[must_use]
    pub fn not_found() -> Self {
        Self::no_such("task")
    }

    /// The same for another kind of object.
    #[must_use]
    pub fn no_such(kind: &'static str) -> Self {
        let mut problem = Self::new(Code::NotFound, format!("There is no such {kind}."));
        problem.0.missing = Some(kind);
        problem
    }

    /// The same, where an object does not exist, with the id or the name that the client gave. The first one stays.
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        if let Some(kind) = self.0.missing.take() {
            let name: String =
                name.chars().filter(|c| !c.is_control()).take(MOST_OF_A_NAME).collect();
            self.0.detail = format!("There is no {kind} `{name}`.").into();
        }
        self
    }

    /// Its code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.0.code
    }

    /// Its sentence.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Its places.
    #[must_use]
    pub fn errors(&self) -> &[FieldError] {
        &self.0.errors
    }

    /// Value of the `Allow` header.
    #[must_use]
    pub fn allow(&self) -> Option<&str> {
        self.0.allow.as_deref()
    }

    /// Whether what was asked for may have been done all the same.
    #[must_use]
    pub fn may_have_happened(&self) -> bool {
        self.0.code == Code::OutcomeUnknown
    }

    /// What the log says of it.
    #[must_use]
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// The limit that was met, where one was.
    #[must_use]
    pub fn met(&self) -> Option<&Limited> {
        self.0.limited.as_ref()
    }

    /// Seconds to wait before trying again, for what is worth it.
    #[must_use]
    pub fn retry_after(&self) -> Option<u32> {
        let wait = self.0.wait.or_else(|| self.met().map(|limited| limited.retry_after));
        wait.or_else(|| self.0.code.info().retryable.then_some(1))
    }
}

fn shown(pointer: &str) -> &str {
    if pointer.is_empty() { "the body" } else { pointer }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let code = Code::of_store(&error);
        Self::new(code, code.advice()).caused_by(&error)
    }
}

impl Code {
    /// A sentence for problems that have none of their own.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        let info = self.info();
        if let Self::TooManyAtOnce = self {
            return "Too many of your requests are running or waiting. Send fewer in parallel and try again.";
        }
        match (info.retryable, info.status) {
            (true, _) => "Try again later; repeat a write with the same Idempotency-Key.",
            (false, 500..) => "Report the request_id if it happens again.",
            (false, _) => info.title,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_are_distinct_and_retryable_ones_are_not_the_clients_fault() {
        let codes: HashSet<_> = Code::ALL.iter().map(|code| code.info().code).collect();
        assert_eq!(codes.len(), Code::ALL.len());
        for code in Code::ALL {
            let info = code.info();
            assert!((400..600).contains(&info.status));
            assert_eq!(info.retryable, matches!(info.status, 429 | 503), "{code:?}");
        }
    }

    #[test]
    fn a_database_error_is_for_the_log_only() {
        let problem = Problem::from(StoreError::Malformed {
            what: "state",
            row: "task_1".to_owned(),
            value: "hunter2".to_owned(),
        });
        assert_eq!(problem.code(), Code::Internal);
        assert!(!problem.detail().contains("hunter2"));
        assert!(problem.cause().is_some_and(|cause| cause.contains("hunter2")));
    }

    #[test]
    fn several_mistakes_are_told_at_once() {
        let error = |pointer: &str| FieldError {
            pointer: pointer.to_owned(),
            detail: "is wrong".to_owned(),
        };
        let problem =
            Problem::with_errors(Code::ValidationFailed, vec![error("/name"), error("/run")]);
        assert_eq!(problem.detail(), "/name: is wrong (and 1 more)");
        assert_eq!(problem.errors().len(), 2);
    }
}

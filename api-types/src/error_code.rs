//! THE error table: code, status, title, and what is worth retrying (RFC 9457).
//!
//! The match over [`ErrorCode`] here is the only place that knows them; docs/errors.md lists them for people.

use serde::{Deserialize, Serialize};

/// Error code, for programs. Its text never changes; docs/errors.md lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ProblemCode))]
pub enum ErrorCode {
    /// The body is no JSON.
    InvalidJson,
    /// A query parameter or header is not usable.
    InvalidParameter,
    /// The cursor was not made by this list, for this tenant and these filters.
    InvalidCursor,
    /// No good API key.
    Unauthenticated,
    /// A spend cap of the tenant has no room for what the task may cost.
    SpendCapReached,
    /// The key may not do this.
    ScopeMissing,
    /// A tenant's key on an operators' route, or the other way round.
    WrongKindOfKey,
    /// The tenant is suspended, and this is new work.
    TenantSuspended,
    /// No such thing, or another tenant's.
    NotFound,
    /// The task has ended without a result.
    NoResult,
    /// No such route.
    RouteNotFound,
    /// The route exists, with other methods.
    MethodNotAllowed,
    /// The thing is not in a state for this, or its name is taken.
    Conflict,
    /// The task has not ended yet.
    NotEnded,
    /// The task waits and has no failure to try again.
    TaskWaiting,
    /// The task runs.
    TaskRunning,
    /// The task has ended.
    TaskEnded,
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
    /// Too many tries to sign in.
    TooManyAttempts,
    /// The tenant has as much as its plan allows.
    QuotaExceeded,
    /// A peer or a tenant sends more than its rate.
    RateLimited,
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
pub struct ErrorCodeInfo {
    /// The code as text.
    pub code: &'static str,
    /// HTTP status.
    pub status: u16,
    /// Short, the same for each occurrence.
    pub title: &'static str,
    /// The same request may succeed later.
    pub retryable: bool,
}

impl ErrorCode {
    /// Every code, in the order of statuses.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The table.
    #[must_use]
    pub const fn info(self) -> ErrorCodeInfo {
        let (code, status, title, retryable) = match self {
            Self::InvalidJson => ("invalid_json", 400, "The body is not valid JSON", false),
            Self::InvalidParameter => ("invalid_parameter", 400, "A parameter is invalid", false),
            Self::InvalidCursor => {
                ("invalid_cursor", 400, "The cursor is invalid for this list", false)
            }
            Self::Unauthenticated => ("unauthenticated", 401, "A valid API key is required", false),
            Self::ScopeMissing => ("scope_missing", 403, "The API key lacks a scope", false),
            Self::SpendCapReached => {
                ("spend_cap_reached", 402, "A spend cap has no room for this", false)
            }
            Self::WrongKindOfKey => {
                ("wrong_kind_of_key", 403, "The credential is not for this kind of route", false)
            }
            Self::TenantSuspended => ("tenant_suspended", 403, "The account is suspended", false),
            Self::NotFound => ("not_found", 404, "Not found", false),
            Self::NoResult => ("no_result", 404, "The task has no result", false),
            Self::RouteNotFound => ("route_not_found", 404, "Route not found", false),
            Self::MethodNotAllowed => ("method_not_allowed", 405, "Method not allowed", false),
            Self::Conflict => ("conflict", 409, "Conflict with the current state", false),
            Self::NotEnded => ("not_ended", 409, "The task has not ended yet", false),
            Self::TaskWaiting => ("task_waiting", 409, "The task waits for its turn", false),
            Self::TaskRunning => ("task_running", 409, "The task is running", false),
            Self::TaskEnded => ("task_ended", 409, "The task has ended", false),
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
        ErrorCodeInfo { code, status, title, retryable }
    }

    /// The code as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.info().code
    }

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

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_are_distinct_and_retryable_ones_are_not_the_clients_fault() {
        let codes: HashSet<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), ErrorCode::ALL.len());
        for code in ErrorCode::ALL {
            let info = code.info();
            assert!((400..600).contains(&info.status));
            assert_eq!(info.retryable, matches!(info.status, 429 | 503), "{code:?}");
        }
    }

    #[test]
    fn each_code_is_written_as_the_table_says() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}

//! What a client is told when something goes wrong (RFC 9457).
//!
//! Every handler fails with a [`Problem`]; the table of codes is [`Code`], of `api-types`. The client gets a code and a sentence it
//! can act on; the cause travels beside it, into the log only.

pub use api_types::{ErrorCode as Code, FieldError};
use api_types::{Extensible, RateName};
use domain::id::{PlanName, RequestId};
use domain::time::Timestamp;
use runtime::error_chain::ErrorChain;
use std::borrow::Cow;
use std::error::Error;
use store::StoreError;

/// Characters of a client's own text that are said back.
const MOST_OF_A_NAME: usize = 200;

/// Which limit was met, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limited {
    /// The limit.
    pub limit: RateName,
    /// When there is something again.
    pub retry_at: Timestamp,
    /// The same in whole seconds from now, at least 1.
    pub retry_after: u32,
    /// The plan that allows more.
    pub lifted_by: Option<PlanName>,
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

    /// The same, of a body that stands at `base` in the one that was sent.
    #[must_use]
    pub fn below(mut self, base: &str) -> Self {
        if self.0.errors.is_empty() {
            return self;
        }
        for error in &mut self.0.errors {
            error.pointer.insert_str(0, base);
        }
        let Self(parts) = Self::with_errors(self.0.code, std::mem::take(&mut self.0.errors));
        (self.0.detail, self.0.errors) = (parts.detail, parts.errors);
        self
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

    /// The document that the client gets. Inside a batch's answer it has no request id of its own.
    #[must_use]
    pub fn shown(&self, request_id: Option<RequestId>) -> api_types::Problem {
        let row = self.0.code.info();
        let met = self.met();
        api_types::Problem {
            kind: format!("urn:berth:problem:{}", row.code),
            title: row.title.into(),
            status: row.status,
            detail: self.detail().to_owned(),
            code: Extensible::Known(self.0.code),
            retryable: row.retryable,
            request_id: request_id.map(Into::into),
            limit: met.map(|limited| limited.limit.into()),
            retry_at: met.map(|limited| limited.retry_at),
            lifted_by: met.and_then(|limited| limited.lifted_by.clone()),
            errors: self.0.errors.clone(),
        }
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
        let code = code_of_store(&error);
        Self::new(code, code.advice()).caused_by(&error)
    }
}

/// A spend cap has no room for a task.
pub(crate) fn over_cap(refusal: &store::spend::CapRefusal) -> Problem {
    let detail = format!(
        "{refusal} Who has the permission `spend.manage` can raise it (`berth cap set {}`): owners, admins and billing users of your \
         tenant.",
        refusal.cap
    );
    Problem::new(Code::SpendCapReached, detail)
}

/// What a client is told of a write that failed, or was perhaps done.
pub(crate) fn of_write(error: StoreError) -> Problem {
    if !error.outcome_unknown() {
        return error.into();
    }
    Problem::new(Code::OutcomeUnknown, Code::OutcomeUnknown.advice()).caused_by(&error)
}

/// What a failed statement means to a client.
#[must_use]
pub const fn code_of_store(error: &StoreError) -> Code {
    match error {
        StoreError::Unavailable(_) | StoreError::Standby => Code::Unavailable,
        StoreError::Busy | StoreError::Contended => Code::Overloaded,
        StoreError::TenantBusy => Code::TooManyAtOnce,
        StoreError::Timeout => Code::Timeout,
        StoreError::Malformed { .. }
        | StoreError::Database(_)
        | StoreError::Config(_)
        | StoreError::Role(_)
        | StoreError::Migrate(_) => Code::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

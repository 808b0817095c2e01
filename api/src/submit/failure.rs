//! A failed statement, by what the writer does about it.

use crate::problem::{Code, Problem, code_of_store};
use runtime::error_chain::ErrorChain;
use store::StoreError;

/// Why a group was not stored for certain; each with the cause, for the log.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection broke: it may be stored.
    Unknown(String),
    /// Nothing was stored; the same may succeed later.
    Later(Code, String),
    /// Nothing was stored, and some row is why.
    Refused(String),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let cause = ErrorChain(&error).to_string();
        if error.outcome_unknown() {
            Self::Unknown(cause)
        } else if error.is_retryable() {
            Self::Later(code_of_store(&error), cause)
        } else {
            Self::Refused(cause)
        }
    }
}

impl Failure {
    /// The cause, for the log.
    pub(super) fn cause(&self) -> &str {
        match self {
            Self::Unknown(cause) | Self::Later(_, cause) | Self::Refused(cause) => cause,
        }
    }

    /// The answer to the requests that wait.
    pub(super) fn problem(&self) -> Problem {
        let code = match self {
            Self::Unknown(_) => Code::OutcomeUnknown,
            Self::Later(code, _) => *code,
            Self::Refused(_) => Code::Internal,
        };
        Problem::new(code, code.advice())
    }
}

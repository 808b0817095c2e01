//! What a refusal of `identity` is to a client: the only place that maps them.

use crate::problem::{Code, Problem, code_of_store};
use identity::{IdentityError, PasswordError};

impl From<IdentityError> for Problem {
    fn from(error: IdentityError) -> Self {
        let code = match error {
            IdentityError::Unauthenticated(_) => Code::Unauthenticated,
            IdentityError::WrongKind(_) => Code::WrongKindOfKey,
            IdentityError::ScopeMissing(_) => Code::ScopeMissing,
            IdentityError::Suspended => Code::TenantSuspended,
            IdentityError::NoSignIn | IdentityError::NoSignUp => Code::NotAvailable,
            IdentityError::NameTaken => Code::Conflict,
            IdentityError::Unchecked(ref cause) => code_of_store(cause),
            IdentityError::TooManyAttempts { wait, .. } => {
                let seconds = u32::try_from(wait.as_secs() + 1).unwrap_or(u32::MAX);
                return Self::new(Code::TooManyAttempts, error.to_string()).waiting(seconds);
            }
            IdentityError::WrongPassword => {
                return Self::at(Code::ValidationFailed, "/old_password", error.to_string());
            }
            IdentityError::Password(PasswordError::Busy) => {
                return Self::new(Code::Overloaded, Code::Overloaded.advice());
            }
            IdentityError::Key(_)
            | IdentityError::Token(_)
            | IdentityError::Password(PasswordError::Failed(_)) => {
                return Self::new(Code::Internal, Code::Internal.advice()).caused_by(&error);
            }
            IdentityError::Store(cause) => return cause.into(),
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;
    use store::StoreError;

    #[test]
    fn a_refusal_keeps_its_words_and_a_failure_of_ours_says_nothing() {
        let suspended = Problem::from(IdentityError::Suspended);
        assert_eq!(suspended.code(), Code::TenantSuspended);
        assert!(suspended.detail().starts_with("Your account is suspended"));
        let failed = PasswordError::Failed("no random bytes".to_owned());
        let failed = Problem::from(IdentityError::Password(failed));
        assert_eq!(failed.code(), Code::Internal);
        assert!(!failed.detail().contains("random"));
        assert!(failed.cause().is_some_and(|cause| cause.contains("random")));
    }

    #[test]
    fn who_is_to_wait_is_told_for_how_long() {
        let (which, wait) = ("sign-in attempts to this account", Duration::from_millis(8500));
        let problem = Problem::from(IdentityError::TooManyAttempts { which, wait });
        assert_eq!(problem.detail(), "Too many sign-in attempts to this account; wait 9 s.");
        assert_eq!(problem.retry_after(), Some(9));
        let unchecked = IdentityError::Unchecked(Arc::new(StoreError::Busy));
        assert_eq!(Problem::from(unchecked).code(), Code::Overloaded);
    }
}

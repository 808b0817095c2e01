//! Why somebody is not let in, or may not do something: in words for whoever asked.
//!
//! Made everywhere here; `api` turns each into an answer, in one match.

use crate::key::KeyError;
use crate::password::PasswordError;
use crate::token::TokenError;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;

/// Why not. The text of those without a cause may be shown to anybody.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// No credential, or none that is good. An unknown, a revoked and an expired one have the same text.
    #[error("{0}")]
    Unauthenticated(Cow<'static, str>),
    /// A credential for the other kind of route. Judged by its form alone, before anything is looked up.
    #[error("{0}")]
    WrongKind(&'static str),
    /// The caller lacks a permission or a scope, which the text names.
    #[error("{0}")]
    ScopeMissing(String),
    /// The tenant is suspended, and this is new work.
    #[error(
        "Your account is suspended: nothing new is accepted or started. Reads and cancels still work. Contact the \
         operator of this service."
    )]
    Suspended,
    /// Too many tries.
    #[error("Too many {which}; wait {} s.", seconds(.wait))]
    TooManyAttempts {
        /// Which tries were counted.
        which: &'static str,
        /// Until the next may be made.
        wait: Duration,
    },
    /// Users cannot sign in here.
    #[error("Sign-in is disabled on this installation (no `auth.jwt_key`); use an API key.")]
    NoSignIn,
    /// Nobody can sign up here.
    #[error("Sign-up is disabled on this installation; ask its operator for an account.")]
    NoSignUp,
    /// Another tenant has the name, or one like it.
    #[error("The name is taken or similar to a taken one; choose another.")]
    NameTaken,
    /// The old password of one who wants a new one.
    #[error("is not your password")]
    WrongPassword,
    /// The credential could not be looked up: shared by all who waited for the same look-up.
    #[error("The credential cannot be checked now.")]
    Unchecked(#[source] Arc<StoreError>),
    /// A key or a one-time text could not be made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// An access token could not be made.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// A password could not be hashed, or not now.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// The database refused, or did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IdentityError {
    /// The key was looked up, and it is not good.
    pub(crate) const fn rejected() -> Self {
        Self::Unauthenticated(Cow::Borrowed("The API key is unknown, expired or revoked."))
    }

    /// It was good a moment ago, when the request was let in.
    #[must_use]
    pub const fn ended() -> Self {
        Self::Unauthenticated(Cow::Borrowed("The API key or sign-in has ended."))
    }
}

/// Whole seconds in which `wait` is over.
fn seconds(wait: &Duration) -> u64 {
    wait.as_secs() + 1
}

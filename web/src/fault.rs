//! Why there is no page, or another one.

use crate::needs::Needs;
use actix_web::http::header::{InvalidHeaderValue, ToStrError};
use api_types::{ErrorCode, Problem};

/// What a page gives back instead of its content.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The API refused: shown as it says.
    Problem(Box<Problem>),
    /// The browser is sent there.
    Elsewhere(String),
    /// Nobody is signed in, or no longer.
    SignedOut,
    /// A form did not come from a page of this session.
    ForeignForm(&'static str),
    /// A form cannot be read.
    BadForm(&'static str),
    /// The one who is signed in may not see the page.
    NotAllowed(Needs),
    /// There is no such page.
    NoPage,
    /// The page cannot be made: a bug, which the log names.
    Broken(String),
}

impl Fault {
    /// A redirect after a form was done.
    pub(crate) fn to(path: impl Into<String>) -> Self {
        Self::Elsewhere(path.into())
    }
}

impl From<Box<Problem>> for Fault {
    fn from(problem: Box<Problem>) -> Self {
        if problem.code == ErrorCode::Unauthenticated {
            return Self::SignedOut;
        }
        Self::Problem(problem)
    }
}

impl From<askama::Error> for Fault {
    fn from(error: askama::Error) -> Self {
        Self::Broken(format!("a template: {error}"))
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Broken(format!("JSON: {error}"))
    }
}

impl From<InvalidHeaderValue> for Fault {
    fn from(error: InvalidHeaderValue) -> Self {
        Self::Broken(format!("a header: {error}"))
    }
}

impl From<ToStrError> for Fault {
    fn from(error: ToStrError) -> Self {
        Self::Broken(format!("a header: {error}"))
    }
}

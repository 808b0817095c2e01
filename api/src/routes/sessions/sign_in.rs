//! `POST /v1/sessions`: sign in with a password.

use super::view::signed_in;
use crate::answer::Answer;
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use actix_web::http::StatusCode;
use api_types::Session;
use api_types::request::SignIn;
use identity::Password;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Sign in",
    description: "Limits on failed attempts: ten per account in 15 minutes, five of them from one address, and 100 per address in an \
                  hour. An address that signed in to the account within 30 days always has five. At most 60 sign-ins per account in \
                  an hour, and 100 active ones: a further one ends the least recently used.",
    request: Some("SignIn"),
    answers: &[AnswerDoc { status: 201, text: "Signed in", content: Content::Json("Session") }],
    problems: &[Code::Unauthenticated, Code::NotAvailable, Code::TooManyAttempts],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `unauthenticated`; `too_many_attempts`; `rate_limited`; `overloaded`; `not_available`; what the database said.
pub async fn handle(call: SignInCall) -> Result<Answer<Session>, Problem> {
    let sessions = &call.state.sessions;
    sessions.require_sign_in()?;
    call.state.limiter.pass_sign_in(call.peer)?;
    let SignIn { tenant, email, password } = json::parse(&call.body)?;
    let sent = Password { tenant: &tenant, email: &email, password: password.into() };
    signed_in(StatusCode::CREATED, sessions.sign_in(sent, call.peer, call.by()).await?)
}

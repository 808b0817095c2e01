//! `POST /v1/sessions/refresh`: stay signed in.

use super::view::signed_in;
use crate::answer::Answer;
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use actix_web::http::StatusCode;
use api_types::Session;
use api_types::request::SessionRefresh;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Refresh a sign-in",
    description: "A refresh token works once. Its reuse ends the sign-in, since it may be stolen: send one at a time, and store the \
                  new one before you use it. Without a response, the same token may be sent again within 10 s.",
    request: Some("SessionRefresh"),
    answers: &[AnswerDoc { status: 200, text: "New tokens", content: Content::Json("Session") }],
    problems: &[Code::Unauthenticated, Code::NotAvailable],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `unauthenticated` for an unknown, used or ended one; `not_available`; what the database said.
pub async fn handle(call: SignInCall) -> Result<Answer<Session>, Problem> {
    let sessions = &call.state.sessions;
    sessions.require_sign_in()?;
    let spec: SessionRefresh = json::parse(&call.body)?;
    let session = sessions.refresh(&spec.refresh_token.into(), call.peer, call.by()).await?;
    signed_in(StatusCode::OK, session)
}

//! `POST /v1/sessions/refresh`: stay signed in.

use super::view::{no_signing_in, signed_in};
use crate::auth::token::Bearer;
use crate::auth::{Purpose, one_time, presented};
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::request::SessionRefresh;
use store::sign_in::Refreshed;

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
pub async fn handle(call: SignInCall) -> Result<HttpResponse, Problem> {
    if call.state.authenticator.tokens().is_none() {
        return Err(no_signing_in());
    }
    let spec: SessionRefresh = json::parse(&call.body)?;
    let old = presented(Purpose::Refresh, spec.refresh_token.expose());
    let Some(old) = old else { return Err(refused()) };
    let new = one_time(Purpose::Refresh)?;
    // Not in the line of those who sign in: who is in already stays in while others knock.
    let _turn = call.state.refreshes.turn(call.peer).await;
    let (db, life) = (&call.state.sign_in, call.state.refresh_token_life);
    match store::sign_in::refresh(db, (&old, &new.hash), life, call.by()).await? {
        Refreshed::Done { sign_in, tenant, user } => {
            signed_in(&call, StatusCode::OK, Bearer { sign_in, tenant, user }, &new.text)
        }
        Refreshed::Reused(id) => {
            tracing::warn!(sign_in.id = %id, "A refresh token came twice: the sign-in `{id}` is over");
            Err(refused())
        }
        Refreshed::Refused => Err(refused()),
    }
}

fn refused() -> Problem {
    Problem::new(Code::Unauthenticated, "The refresh token is invalid; sign in again.")
}

//! `POST /v1/sessions/accept`: set the first password with the token of an invitation.

use super::view::no_signing_in;
use crate::answer::json as answer;
use crate::auth::{Purpose, presented};
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::users::view::check_password;
use crate::task::Findings;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::AcceptedUser;
use api_types::request::InvitationAccept;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Accept an invitation",
    description: "Sets the password for signing in. A token works once.",
    request: Some("InvitationAccept"),
    answers: &[AnswerDoc { status: 200, text: "Set", content: Content::Json("AcceptedUser") }],
    problems: &[Code::Unauthenticated, Code::NotAvailable],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `unauthenticated` for a token that is not good; `validation_failed`; `not_available`; what the database said.
pub async fn handle(call: SignInCall) -> Result<HttpResponse, Problem> {
    if call.state.authenticator.tokens().is_none() {
        return Err(no_signing_in());
    }
    call.state.limiter.pass_sign_in(call.peer)?;
    let spec: InvitationAccept = json::parse(&call.body)?;
    let mut findings = Findings::new(String::new());
    check_password(&mut findings, spec.password.expose());
    findings.into_result()?;
    let db = &call.state.sign_in;
    let hash = presented(Purpose::Invitation, spec.token.expose());
    let Some(hash) = hash else { return Err(refused()) };
    let turn = call.state.passwords.turn(call.peer).await?;
    // Hashing is work, and is done for nobody who has made a token up.
    if !store::user::invited(db, &hash).await? {
        return Err(refused());
    }
    let password = call.state.passwords.hash(&turn, spec.password.into()).await?;
    let accepted = store::user::accept(db, &hash, &password, call.by()).await?;
    let accepted = accepted.ok_or_else(refused)?;
    let (tenant, user, email) = (accepted.tenant, accepted.user, accepted.email);
    answer(StatusCode::OK, &AcceptedUser { tenant, user, email })
}

fn refused() -> Problem {
    Problem::new(
        Code::Unauthenticated,
        "The invitation is invalid or was already used; ask for a new one.",
    )
}

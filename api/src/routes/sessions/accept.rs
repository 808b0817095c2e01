//! `POST /v1/sessions/accept`: set the first password with the token of an invitation.

use crate::answer::json as answer;
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::users::view::check_password;
use crate::task::Findings;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::id::{TenantId, UserId};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Accept an invitation",
    description: "Sets the password for signing in. A token works once.",
    request: Some("InvitationAccept"),
    answers: &[AnswerDoc { status: 200, text: "Set", content: Content::Json("AcceptedUser") }],
    problems: &[Code::Unauthenticated, Code::NotAvailable],
    ..Doc::EMPTY
};

/// Invitation token and new password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = InvitationAccept)]
pub struct AcceptSpec {
    /// The one-time token.
    #[schema(value_type = String)]
    token: SecretString,
    /// 12 to 256 characters, any of them.
    #[schema(value_type = String, min_length = 12, max_length = 256)]
    password: SecretString,
}

/// The user who can now sign in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AcceptedUser)]
pub struct AcceptedView<'a> {
    /// The tenant.
    #[schema(value_type = String)]
    tenant: TenantId,
    /// The user.
    #[schema(value_type = String)]
    user: UserId,
    /// E-mail address to sign in with.
    email: &'a str,
}

/// Answers.
///
/// # Errors
/// `unauthenticated` for a token that is not good; `validation_failed`; `not_available`; what the database said.
pub async fn handle(call: SignInCall) -> Result<HttpResponse, Problem> {
    let sessions = &call.state.sessions;
    sessions.require_sign_in()?;
    call.state.limiter.pass_sign_in(call.peer)?;
    let AcceptSpec { token, password } = json::parse(&call.body)?;
    let mut findings = Findings::new(String::new());
    check_password(&mut findings, &password);
    findings.into_result()?;
    let accepted = sessions.accept(&token, password, call.peer, call.by()).await?;
    let view =
        AcceptedView { tenant: accepted.tenant, user: accepted.user, email: &accepted.email };
    answer(StatusCode::OK, &view)
}

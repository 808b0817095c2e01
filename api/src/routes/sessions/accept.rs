//! `POST /v1/sessions/accept`: set the first password with the token of an invitation.

use crate::answer::Answer;
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::users::view::check_password;
use crate::task::Findings;
use api_types::AcceptedUser;
use api_types::request::InvitationAccept;
use store::user::Accepted;

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
pub async fn handle(call: SignInCall) -> Result<Answer<AcceptedUser>, Problem> {
    let sessions = &call.state.sessions;
    sessions.require_sign_in()?;
    call.state.limiter.pass_sign_in(call.peer)?;
    let InvitationAccept { token, password } = json::parse(&call.body)?;
    let (token, password) = (token.into(), password.into());
    let mut findings = Findings::new(String::new());
    check_password(&mut findings, &password);
    findings.into_result()?;
    let accepted = sessions.accept(&token, password, call.peer, call.by()).await?;
    let Accepted { tenant, tenant_name, user, email } = accepted;
    Ok(Answer::ok(AcceptedUser { tenant, tenant_name, user, email }))
}

//! `POST /v1/sessions/password`: change one's own password.

use super::list::signed_in;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::users::view::check_password;
use crate::task::Findings;
use api_types::PasswordChanged;
use api_types::request;
use identity::PasswordChange;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Change your password",
    description: "Needs the current password; at most ten wrong ones in 15 minutes. Your other sign-ins end within 2 s. Your API \
                  keys stay valid: revoke those you no longer trust.",
    request: Some("PasswordChange"),
    answers: &[AnswerDoc {
        status: 200,
        text: "Changed",
        content: Content::Json("PasswordChanged"),
    }],
    problems: &[Code::TooManyAttempts],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `validation_failed`, for an old password that is wrong, too; `too_many_attempts`; `overloaded`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<PasswordChanged>, Problem> {
    call.query()?.finish()?;
    let (user, sign_in) = signed_in(&call)?;
    let request::PasswordChange { old_password, password } = json::parse(&call.body)?;
    let (old, new) = (old_password.into(), password.into());
    let mut findings = Findings::new(String::new());
    check_password(&mut findings, &new);
    findings.into_result()?;
    let change = PasswordChange { user, sign_in, peer: call.peer, old, new };
    let (state, scope) = (&call.state, call.scope());
    let ended_sessions = state.sessions.change_password(&state.api, &scope, change).await?;
    Ok(Answer::ok(PasswordChanged { ended_sessions }))
}

//! `POST /v1/sessions/password`: change one's own password.
//!
//! The rule: who has found a browser open is not who knows the password. So the old one is asked for, and guesses at it are counted.

use super::list::signed_in;
use crate::answer::json as answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::users::view::check_password;
use crate::task::Findings;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::PasswordChanged;
use api_types::request::PasswordChange;

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
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let (user, sign_in) = signed_in(&call)?;
    let spec: PasswordChange = json::parse(&call.body)?;
    let mut findings = Findings::new(String::new());
    check_password(&mut findings, spec.password.expose());
    findings.into_result()?;
    let (state, scope) = (&call.state, call.scope());
    let turn = state.passwords.turn(call.peer).await?;
    state.attempts.count_old_password(&state.sign_in, user).await?;
    let old = store::user::password_hash(&state.api, &scope, user).await?.unwrap_or_default();
    if old.is_empty()
        || !state.passwords.is_right(&turn, spec.old_password.into(), Some(old.clone())).await?
    {
        return Err(wrong());
    }
    state.attempts.knew_old_password(&state.sign_in, user).await?;
    let new = state.passwords.hash(&turn, spec.password.into()).await?;
    let who = (user, sign_in);
    let ended = store::user::change_password(&state.api, &scope, who, (&old, &new)).await?;
    // It became another one since it was compared.
    let ended_sessions = ended.ok_or_else(wrong)?;
    answer(StatusCode::OK, &PasswordChanged { ended_sessions })
}

fn wrong() -> Problem {
    Problem::at(Code::ValidationFailed, "/old_password", "is not your password")
}

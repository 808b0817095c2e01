//! `POST /v1/sessions/password`: change one's own password.

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
use identity::PasswordChange;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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

/// Old and new password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PasswordChange)]
pub struct PasswordSpec {
    /// Current password.
    #[schema(value_type = String)]
    old_password: SecretString,
    /// 12 to 256 characters, any of them.
    #[schema(value_type = String, min_length = 12, max_length = 256)]
    password: SecretString,
}

/// Result of a password change.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PasswordChanged)]
pub struct PasswordView {
    /// Sign-ins that were ended.
    ended_sessions: u64,
}

/// Answers.
///
/// # Errors
/// `validation_failed`, for an old password that is wrong, too; `too_many_attempts`; `overloaded`; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let (user, sign_in) = signed_in(&call)?;
    let PasswordSpec { old_password: old, password: new } = json::parse(&call.body)?;
    let mut findings = Findings::new(String::new());
    check_password(&mut findings, &new);
    findings.into_result()?;
    let change = PasswordChange { user, sign_in, peer: call.peer, old, new };
    let (state, scope) = (&call.state, call.scope());
    let ended_sessions = state.sessions.change_password(&state.api, &scope, change).await?;
    answer(StatusCode::OK, &PasswordView { ended_sessions })
}

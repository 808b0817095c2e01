//! `POST /v1/sign-up`: become a customer, where the installation allows it.

use super::view::signed_in;
use crate::answer::Answer;
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::users::view::{check_email, check_password};
use crate::task::{Findings, check_tenant_name};
use actix_web::http::StatusCode;
use api_types::Session;
use api_types::request::SignUp;
use identity::NewAccount;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Sign up",
    description: "Creates a tenant and its owner and signs the owner in. Needs `auth.sign_up_plan`; at most ten attempts per address \
                  in an hour. If the response was lost and the name is then taken, try to sign in.",
    request: Some("SignUp"),
    answers: &[AnswerDoc {
        status: 201,
        text: "Signed up and in",
        content: Content::Json("Session"),
    }],
    problems: &[Code::Conflict, Code::NotAvailable, Code::TooManyAttempts],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_available` where nobody can; `validation_failed`; `conflict` when the name is taken; `too_many_attempts`; `rate_limited`;
/// `overloaded`; what the database said.
pub async fn handle(call: SignInCall) -> Result<Answer<Session>, Problem> {
    let sessions = &call.state.sessions;
    sessions.require_sign_up()?;
    call.state.limiter.pass_sign_in(call.peer)?;
    let SignUp { tenant, email, password } = json::parse(&call.body)?;
    let password = password.into();
    let mut findings = Findings::new(String::new());
    let tenant = check_tenant_name(&mut findings, "/tenant", &tenant);
    let email = check_email(&mut findings, &email);
    check_password(&mut findings, &password);
    findings.into_result()?;
    // Where there is none, that was found.
    let Some(tenant) = tenant else {
        return Err(Problem::new(Code::Internal, Code::Internal.advice()));
    };
    let new = NewAccount { tenant, email, password };
    signed_in(StatusCode::CREATED, sessions.sign_up(new, call.peer, call.by()).await?)
}

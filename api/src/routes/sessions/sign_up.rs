//! `POST /v1/sign-up`: become a customer, where the installation allows it.
//!
//! The rule: nobody learns from it who is a customer by their address. Addresses belong to tenants, and the new one has none yet;
//! that a name is taken cannot be hidden from whoever wants it.

use super::view::{no_signing_in, signed_in};
use crate::auth::token::Bearer;
use crate::auth::{Purpose, one_time};
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::users::view::{check_email, check_password};
use crate::task::{Findings, check_tenant_name};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::request::SignUp;
use domain::id::{SignInId, TenantId, UserId};
use store::sign_in::NewCustomer;
use store::sign_in::NewSignIn;
use store::tenant::Created;

/// Of a user who has never changed the password.
const FIRST_VERSION: i32 = 1;

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
pub async fn handle(call: SignInCall) -> Result<HttpResponse, Problem> {
    let state = &call.state;
    if state.authenticator.tokens().is_none() {
        return Err(no_signing_in());
    }
    let plan = state.sign_up_plan.clone().ok_or_else(no_signing_up)?;
    state.limiter.pass_sign_in(call.peer)?;
    let spec: SignUp = json::parse(&call.body)?;
    let mut findings = Findings::new(String::new());
    let name = check_tenant_name(&mut findings, "/tenant", &spec.tenant);
    let email = check_email(&mut findings, &spec.email);
    check_password(&mut findings, spec.password.expose());
    findings.into_result()?;
    // Where there is none, that was found.
    let Some(name) = name else {
        return Err(Problem::new(Code::Internal, Code::Internal.advice()));
    };
    let turn = state.passwords.turn(call.peer).await?;
    state.attempts.count_sign_up(&state.sign_in, call.peer).await?;
    let password_hash = state.passwords.hash(&turn, spec.password.into()).await?;
    let refresh = one_time(Purpose::Refresh)?;
    let sign_in = NewSignIn {
        id: SignInId::fresh(),
        tenant: TenantId::fresh(),
        user: UserId::fresh(),
        token_version: FIRST_VERSION,
        refresh_hash: refresh.hash,
        life: state.refresh_token_life,
    };
    let bearer = Bearer { sign_in: sign_in.id, tenant: sign_in.tenant, user: sign_in.user };
    let new = NewCustomer { name, plan: plan.clone(), email, password_hash, sign_in };
    match store::sign_in::sign_up(&state.sign_in, new, call.by()).await? {
        Created::Yes => signed_in(&call, StatusCode::CREATED, bearer, &refresh.text),
        Created::NameTaken => {
            let detail = "The name is taken or similar to a taken one; choose another.";
            Err(Problem::new(Code::Conflict, detail))
        }
        Created::NoSuchPlan => {
            tracing::error!(%plan, "Nobody can sign up: there is no plan `{plan}`, which `auth.sign_up_plan` names");
            Err(no_signing_up())
        }
    }
}

fn no_signing_up() -> Problem {
    Problem::new(
        Code::NotAvailable,
        "Sign-up is disabled on this installation; ask its operator for an account.",
    )
}

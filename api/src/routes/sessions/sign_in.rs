//! `POST /v1/sessions`: sign in with a password.
//!
//! The rule: whoever guesses learns nothing. An unknown tenant, an unknown address and a wrong password are the same answer after
//! the same work.

use super::view::{no_signing_in, signed_in};
use crate::auth::token::Bearer;
use crate::auth::{Purpose, Trying, one_time};
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::request::SignIn;
use domain::id::SignInId;
use domain::name::TenantName;
use store::sign_in::NewSignIn;

/// Longest text that is looked at.
const MAX_TEXT: usize = 1024;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Sign in",
    description: "Limits on failed attempts: ten per account in 15 minutes, five of them from one address, and 100 per address in an \
                  hour. An address that signed in to the account within 30 days always has five. At most 60 sign-ins per account in \
                  an hour, and 100 active ones: a further one ends the least recently used.",
    request: Some("SignIn"),
    answers: &[AnswerDoc { status: 201, text: "Signed in", content: Content::Json("Session") }],
    problems: &[Code::Unauthenticated, Code::NotAvailable, Code::TooManyAttempts],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `unauthenticated`; `too_many_attempts`; `rate_limited`; `overloaded`; `not_available`; what the database said.
pub async fn handle(call: SignInCall) -> Result<HttpResponse, Problem> {
    if call.state.authenticator.tokens().is_none() {
        return Err(no_signing_in());
    }
    call.state.limiter.pass_sign_in(call.peer)?;
    let spec: SignIn = json::parse(&call.body)?;
    let (state, db, peer) = (&call.state, &call.state.sign_in, call.peer);
    let email = spec.email.trim().to_lowercase();
    let tenant = spec.tenant.as_str();
    let plain = |text: &str| text.len() <= MAX_TEXT && !text.contains('\0');
    if !plain(tenant) || !plain(&email) {
        return Err(refused());
    }
    // Counted by what the name is taken for, or each way to write it would have tries of its own.
    let name_key = TenantName::key_of(tenant);
    let mut counted = state.attempts.begin(Trying { tenant: &name_key, email: &email, peer })?;
    let turn = state.passwords.turn(peer).await?;
    state.attempts.count(db, &mut counted).await?;
    let account = store::sign_in::account(db, tenant, &email).await?;
    let hash = account.as_ref().map(|account| account.password_hash.clone());
    let right = state.passwords.is_right(&turn, spec.password.into(), hash).await?;
    let known = account.as_ref().map(|account| (account.tenant, account.user));
    let Some(account) = account.filter(|_| right) else {
        let peer = peer.map(|peer| peer.to_string());
        store::sign_in::refused(db, known, peer, call.by()).await?;
        return Err(refused());
    };
    state.attempts.right(db, &counted).await?;
    let refresh = one_time(Purpose::Refresh)?;
    let new = NewSignIn {
        id: SignInId::fresh(),
        tenant: account.tenant,
        user: account.user,
        token_version: account.token_version,
        refresh_hash: refresh.hash,
        life: state.refresh_token_life,
    };
    let bearer = Bearer { sign_in: new.id, tenant: new.tenant, user: new.user };
    store::sign_in::begin(db, new, call.by()).await?;
    signed_in(&call, StatusCode::CREATED, bearer, &refresh.text)
}

fn refused() -> Problem {
    Problem::new(Code::Unauthenticated, "Wrong tenant, address or password.")
}

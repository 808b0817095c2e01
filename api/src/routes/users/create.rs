//! `POST /v1/users`: invite a user, or make one with a password.
//!
//! The rule: nobody gives a role whose permissions they do not hold.

use super::view::{check_email, check_password, new_user};
use crate::answer::{json as answer, to_json};
use crate::auth::{Purpose, ended, one_time};
use crate::call::{Call, idempotency_key, key_reused, replayed};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::task::Findings;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::request::UserCreate;
use chrono::TimeDelta;
use domain::access::Role;
use domain::id::UserId;
use runtime::clock::wall;
use secrecy::SecretString;
use std::time::Duration;
use store::idempotency::Once;
use store::user::{Created, Entry, NewUser, UserInfo};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Invite a user",
    description: "Without a password, the response has a one-time token, shown once. The user sets a password with it (`POST \
                  /v1/sessions/accept`). You can only grant a role whose permissions you hold; API keys cannot create owners.",
    request: Some("UserCreate"),
    answers: &[AnswerDoc { status: 201, text: "Invited", content: Content::Json("NewUser") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `scope_missing` for a role that the caller cannot give; `validation_failed`, for an address that is taken, too;
/// `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let spec: UserCreate = json::parse(&call.body)?;
    let once = idempotency_key(&call)?;
    let mut findings = Findings::new(String::new());
    let email = check_email(&mut findings, &spec.email);
    if let Some(password) = &spec.password {
        check_password(&mut findings, password.expose());
    }
    findings.into_result()?;
    may_give(&call, spec.role)?;
    let (entry, token) = entry(&call, spec.password.map(Into::into)).await?;
    let new = NewUser { id: UserId::fresh(), email, role: spec.role, entry };
    let (db, scope) = (&call.state.api, call.scope());
    let kept = |user: &UserInfo| to_json(&new_user(user.clone(), None)).unwrap_or_default();
    match store::user::create(db, &scope, new, once.as_ref(), kept).await? {
        Once::Done(Created::Done(user)) => answer(StatusCode::CREATED, &new_user(user, token)),
        Once::Done(Created::EmailTaken) => {
            let detail = "belongs to another user of your tenant";
            Err(Problem::at(Code::ValidationFailed, "/email", detail))
        }
        Once::Done(Created::ActorEnded) => Err(ended()),
        Once::Replayed { status, body } => Ok(replayed(status, body)),
        Once::KeyReused => Err(key_reused()),
    }
}

async fn entry(
    call: &Call,
    password: Option<SecretString>,
) -> Result<(Entry, Option<SecretString>), Problem> {
    if let Some(password) = password {
        let turn = call.state.passwords.turn(call.peer).await?;
        return Ok((Entry::Password(call.state.passwords.hash(&turn, password).await?), None));
    }
    let (entry, token) = invitation(call.state.invitation_life)?;
    Ok((entry, Some(token)))
}

/// An invitation that is good for `life`, and its token.
///
/// # Errors
/// `internal` when the system gives no random bytes.
pub(in crate::routes) fn invitation(life: Duration) -> Result<(Entry, SecretString), Problem> {
    let token = one_time(Purpose::Invitation)?;
    let life = TimeDelta::from_std(life).unwrap_or_default();
    let entry = Entry::Invitation { hash: token.hash, expires_at: wall() + life };
    Ok((entry, token.text))
}

/// Whether the caller holds all that the role gives.
pub(super) fn may_give(call: &Call, role: Role) -> Result<(), Problem> {
    if call.caller.permissions().includes(role.permissions()) {
        return Ok(());
    }
    let detail = format!("You cannot grant the role `{role}`: you lack some of its permissions.");
    Err(Problem::new(Code::ScopeMissing, detail))
}

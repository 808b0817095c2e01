//! `POST /v1/users`: invite a user, or make one with a password.
//!
//! The rule: nobody gives a role whose permissions they do not hold.

use super::view::{check_email, check_password, new_user};
use crate::answer::{Answer, to_json};
use crate::auth::ended;
use crate::call::{Call, idempotency_key, key_reused};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::task::Findings;
use api_types::request::UserCreate;
use domain::id::UserId;
use secrecy::SecretString;
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
pub async fn handle(call: Call) -> Result<Answer<api_types::NewUser>, Problem> {
    call.query()?.finish()?;
    let spec: UserCreate = json::parse(&call.body)?;
    let once = idempotency_key(&call)?;
    let mut findings = Findings::new(String::new());
    let email = check_email(&mut findings, &spec.email);
    let password = spec.password.map(SecretString::from);
    if let Some(password) = &password {
        check_password(&mut findings, password);
    }
    findings.into_result()?;
    call.caller.may_give(spec.role)?;
    let (entry, token) = entry(&call, password).await?;
    let new = NewUser { id: UserId::fresh(), email, role: spec.role, entry };
    let (db, scope) = (&call.state.api, call.scope());
    let kept = |user: &UserInfo| to_json(&new_user(user.clone(), None)).unwrap_or_default();
    match store::user::create(db, &scope, new, once.as_ref(), kept).await? {
        Once::Done(Created::Done(user)) => Ok(Answer::created(new_user(user, token))),
        Once::Done(Created::EmailTaken) => {
            let detail = "belongs to another user of your tenant";
            Err(Problem::at(Code::ValidationFailed, "/email", detail))
        }
        Once::Done(Created::ActorEnded) => Err(ended()),
        Once::Replayed { status, body } => Ok(Answer::replayed(status, body)),
        Once::KeyReused => Err(key_reused()),
    }
}

async fn entry(
    call: &Call,
    password: Option<SecretString>,
) -> Result<(Entry, Option<SecretString>), Problem> {
    if let Some(password) = password {
        let hash = call.state.sessions.hash(password, call.peer).await?;
        return Ok((Entry::Password(hash), None));
    }
    let (entry, token) = call.state.sessions.invitation()?;
    Ok((entry, Some(token)))
}

//! `POST /v1/users`: invite a user, or make one with a password.
//!
//! The rule: nobody gives a role whose permissions they do not hold.

use super::view::{UserView, check_email, check_password};
use crate::answer::{raw_json, to_json};
use crate::auth::ended;
use crate::call::{Call, idempotency_key, key_reused, replayed};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::task::Findings;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::access::Role;
use domain::id::UserId;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use store::idempotency::Once;
use store::user::{Created, Entry, NewUser, UserInfo};
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Invite a user",
    description: "Without a password, the response has a one-time token, shown once. The user sets a password with it (`POST \
                  /v1/sessions/accept`). You can only grant a role whose permissions you hold; API keys cannot create owners.",
    request: Some("UserCreate"),
    answers: &[AnswerDoc { status: 201, text: "Invited", content: Content::Json("NewUser") }],
    ..Doc::EMPTY
};

/// A user to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = UserCreate)]
pub struct UserSpec {
    /// E-mail address; unique in the tenant. Stored in lower case.
    #[schema(max_length = 254)]
    email: String,
    /// Role of the user.
    #[schema(value_type = super::super::super::openapi::words::Role)]
    role: Role,
    /// Password, 12 to 256 characters. Default: the user is invited to set one.
    #[schema(value_type = Option<String>, min_length = 12, max_length = 256)]
    password: Option<SecretString>,
}

/// A new user.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NewUser)]
pub struct NewUserView<'a> {
    /// The user.
    #[serde(flatten)]
    user: UserView<'a>,
    /// Invitation token, shown once. Null if a password was given, and in a repeated response.
    #[schema(required)]
    invite_token: Option<&'a str>,
}

impl<'a> NewUserView<'a> {
    /// With the token, where there is one to show.
    pub(in crate::routes) fn new(user: &'a UserInfo, invite_token: Option<&'a str>) -> Self {
        Self { user: user.into(), invite_token }
    }
}

/// Answers.
///
/// # Errors
/// `scope_missing` for a role that the caller cannot give; `validation_failed`, for an address that is taken, too;
/// `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let spec: UserSpec = json::parse(&call.body)?;
    let once = idempotency_key(&call)?;
    let mut findings = Findings::new(String::new());
    let email = check_email(&mut findings, &spec.email);
    if let Some(password) = &spec.password {
        check_password(&mut findings, password);
    }
    findings.into_result()?;
    call.caller.may_give(spec.role)?;
    let (entry, token) = entry(&call, spec.password).await?;
    let new = NewUser { id: UserId::fresh(), email, role: spec.role, entry };
    let (db, scope) = (&call.state.api, call.scope());
    let kept = |user: &_| to_json(&NewUserView::new(user, None)).unwrap_or_default();
    match store::user::create(db, &scope, new, once.as_ref(), kept).await? {
        Once::Done(Created::Done(user)) => {
            let token = token.as_ref().map(ExposeSecret::expose_secret);
            Ok(raw_json(StatusCode::CREATED, to_json(&NewUserView::new(&user, token))?))
        }
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
        let hash = call.state.sessions.hash(password, call.peer).await?;
        return Ok((Entry::Password(hash), None));
    }
    let (entry, token) = call.state.sessions.invitation()?;
    Ok((entry, Some(token)))
}

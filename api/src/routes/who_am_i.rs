//! `GET /v1/whoami`: whose the credential is, and what it may do.
//!
//! Answered to every good credential, whatever it may do otherwise: it says nothing that its owner does not know.

use crate::answer::json;
use crate::auth::Actor;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::access::{Permission, Role, Scope};
use domain::id::{TenantId, UserId};
use domain::time::Timestamp;
use serde::Serialize;
use store::key::KeyInfo;
use store::user::UserInfo;
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read whose the credential is",
    description: "The tenant, and the API key or the user; exactly one of `key` and `user` is there.",
    answers: &[AnswerDoc { status: 200, text: "Whose it is", content: Content::Json("WhoAmI") }],
    ..Doc::EMPTY
};

/// Whose a credential is, and what it may do.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WhoAmI)]
pub struct WhoAmIView<'a> {
    /// The tenant.
    #[schema(value_type = String)]
    tenant: TenantId,
    /// Its name.
    #[schema(required)]
    tenant_name: Option<String>,
    /// How it stands: `active` or `suspended`.
    tenant_state: &'static str,
    /// The API key; null where it is a user who is signed in.
    #[schema(required)]
    key: Option<OwnKeyView<'a>>,
    /// The user who is signed in; null where it is an API key.
    #[schema(required)]
    user: Option<OwnUserView<'a>>,
    /// The names of the permissions it has.
    permissions: Vec<&'static str>,
}

/// An API key, as it sees itself.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnKey)]
pub struct OwnKeyView<'a> {
    /// Its public part.
    id: &'a str,
    /// What its owner calls it.
    name: &'a str,
    /// What it may do.
    #[schema(value_type = Vec<super::super::openapi::words::Scope>)]
    scopes: &'a [Scope],
    /// On whose behalf it was made; null where no user made it.
    #[schema(value_type = Option<String>, required)]
    user: Option<UserId>,
    /// When it ends by itself; null: never.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    expires_at: Option<Timestamp>,
}

/// A user, as they see themselves.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnUser)]
pub struct OwnUserView<'a> {
    /// The user's id.
    #[schema(value_type = String)]
    id: UserId,
    /// The address to sign in with.
    email: &'a str,
    /// What the user may do.
    #[schema(value_type = super::super::openapi::words::Role)]
    role: Role,
}

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let (db, scope, caller) = (&call.state.api, call.scope(), &call.caller);
    let (mut key, mut user): (Option<KeyInfo>, Option<UserInfo>) = (None, None);
    match caller.actor() {
        Actor::Key(id) => key = store::key::get(db, &scope, None, id.as_str()).await?,
        Actor::User(id, _) => user = store::user::get(db, &scope, id).await?,
    }
    if key.is_none() && user.is_none() {
        // It ended since it was let in.
        return Err(Problem::new(Code::Unauthenticated, "The API key or the sign-in has ended."));
    }
    let may = |permission: &Permission| caller.permissions().contains(*permission);
    let view = WhoAmIView {
        tenant: caller.tenant(),
        tenant_name: store::tenant::name(db, &scope).await?,
        tenant_state: caller.tenant_state().as_str(),
        key: key.as_ref().map(|key| OwnKeyView {
            id: &key.id,
            name: &key.name,
            scopes: &key.scopes,
            user: key.user,
            expires_at: key.expires_at,
        }),
        user: user.as_ref().map(|user| OwnUserView {
            id: user.id,
            email: &user.email,
            role: user.role,
        }),
        permissions: Permission::ALL.into_iter().filter(may).map(Permission::as_str).collect(),
    };
    json(StatusCode::OK, &view)
}

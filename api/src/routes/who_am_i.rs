//! `GET /v1/whoami`: whose the credential is, and what it may do.
//!
//! Answered to every good credential, whatever it may do otherwise: it says nothing that its owner does not know.

use crate::answer::json;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::access::{Permission, Role, Scope};
use domain::id::{TenantId, UserId};
use domain::time::Timestamp;
use identity::Actor;
use serde::Serialize;
use store::key::KeyInfo;
use store::user::UserInfo;
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read the owner of the credential",
    description: "The tenant, and either the API key or the user: one of `key` and `user` is null.",
    answers: &[AnswerDoc { status: 200, text: "The owner", content: Content::Json("WhoAmI") }],
    ..Doc::EMPTY
};

/// Owner and permissions of a credential.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WhoAmI)]
pub struct WhoAmIView<'a> {
    /// The tenant.
    #[schema(value_type = String)]
    tenant: TenantId,
    /// Its name.
    #[schema(required)]
    tenant_name: Option<String>,
    /// Its state: `active` or `suspended`.
    tenant_state: &'static str,
    /// The API key; null for a signed-in user.
    #[schema(required)]
    key: Option<OwnKeyView<'a>>,
    /// The signed-in user; null for an API key.
    #[schema(required)]
    user: Option<OwnUserView<'a>>,
    /// Its permissions.
    permissions: Vec<&'static str>,
}

/// The API key of the request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnKey)]
pub struct OwnKeyView<'a> {
    /// Its id.
    id: &'a str,
    /// Its name.
    name: &'a str,
    /// Its scopes.
    #[schema(value_type = Vec<super::super::openapi::words::Scope>)]
    scopes: &'a [Scope],
    /// The user who created it; null if none.
    #[schema(value_type = Option<String>, required)]
    user: Option<UserId>,
    /// Expiry; null: never.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    expires_at: Option<Timestamp>,
}

/// The user of the request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnUser)]
pub struct OwnUserView<'a> {
    /// The user's id.
    #[schema(value_type = String)]
    id: UserId,
    /// E-mail address to sign in with.
    email: &'a str,
    /// Role of the user.
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
        return Err(Problem::new(Code::Unauthenticated, "The API key or sign-in has ended."));
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

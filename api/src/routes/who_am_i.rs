//! `GET /v1/whoami`: whose the credential is, and what it may do.
//!
//! Answered to every good credential, whatever it may do otherwise: it says nothing that its owner does not know.

use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use api_types::{Extensible, OwnKey, OwnUser, WhoAmI};
use domain::access::Permission;
use identity::Actor;
use store::key::KeyInfo;
use store::user::UserInfo;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read the owner of the credential",
    description: "The tenant, and either the API key or the user: one of `key` and `user` is null.",
    answers: &[AnswerDoc { status: 200, text: "The owner", content: Content::Json("WhoAmI") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`read`].
pub async fn handle(call: Call) -> Result<Answer<WhoAmI>, Problem> {
    Ok(Answer::ok(read(&call).await?))
}

/// The owner of the credential.
///
/// # Errors
/// What the database said.
pub async fn read(call: &Call) -> Result<WhoAmI, Problem> {
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
    let who = WhoAmI {
        tenant: caller.tenant(),
        tenant_name: store::tenant::name(db, &scope).await?,
        tenant_state: caller.tenant_state().into(),
        key: key.map(|key| OwnKey {
            id: key.id.into(),
            name: key.name,
            scopes: key.scopes.into_iter().map(Extensible::Known).collect(),
            user: key.user,
            expires_at: key.expires_at,
        }),
        user: user.map(|user| OwnUser { id: user.id, email: user.email, role: user.role.into() }),
        permissions: Permission::ALL.into_iter().filter(may).map(Extensible::Known).collect(),
    };
    Ok(who)
}

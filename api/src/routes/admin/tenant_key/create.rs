//! `POST /v1/admin/tenants/{id}/keys`: an API key for a tenant, such as its first.

use crate::answer::Answer;
use crate::auth::ended;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::admin::tenant::scope_of;
use crate::routes::keys::create::checked;
use crate::routes::keys::view::new_key;
use api_types::NewApiKey;
use runtime::clock::wall;
use store::idempotency::Once;
use store::key::{Created, NewKey, NewOwnKey};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Create an API key for a tenant",
    description: "The key is shown once and belongs to no user.",
    request: Some("ApiKeyCreate"),
    answers: &[AnswerDoc { status: 201, text: "Created", content: Content::Json("NewApiKey") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `validation_failed`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<NewApiKey>, Problem> {
    call.query()?.finish()?;
    let (name, scopes, life) = checked(json::parse(&call.body)?)?;
    let scope = scope_of(&call).await?;
    call.require_live().await?;
    let made = call.state.authenticator.generate_key()?;
    let key = NewKey {
        id: made.id,
        tenant: scope.tenant(),
        name,
        hash: made.hash.to_vec(),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        expires_at: life.and_then(|life| wall().checked_add_signed(life)),
    };
    let (db, new) = (&call.state.api, NewOwnKey { key, user: None });
    // No user makes it, and no idempotency key was given: what remains is that it is there.
    match store::key::create_own(db, &scope, new, None, |_| Vec::new()).await? {
        Once::Done(Created::Done(key)) => Ok(Answer::created(new_key(*key, Some(made.text)))),
        Once::Done(Created::MayNot | Created::ActorEnded)
        | Once::Replayed { .. }
        | Once::KeyReused => Err(ended()),
    }
}

//! `POST /v1/admin/tenants/{id}/keys/{key_id}/rotate`: put a new API key in the place of a tenant's.

use super::place::key_in_path;
use crate::answer::Answer;
use crate::auth::ended;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::routes::admin::tenant::scope_of;
use crate::routes::keys::rotate::{already_rotated, overlap};
use crate::routes::keys::view::{api_key, new_key, no_such_key};
use api_types::RotatedApiKey;
use store::idempotency::Once;
use store::key::{NewSecret, Rotated, Rotation};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Replace an API key of a tenant",
    description: "The new key has the name, scopes, lifetime and user of the old one, which expires after `overlap`. A key can be replaced once.",
    request: Some("ApiKeyRotate"),
    answers: &[AnswerDoc {
        status: 201,
        text: "Replaced",
        content: Content::Json("RotatedApiKey"),
    }],
    problems: &[Code::NotFound, Code::AlreadyRotated],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `already_rotated`; `validation_failed`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<RotatedApiKey>, Problem> {
    call.query()?.finish()?;
    let overlap = overlap(&call.body)?;
    let scope = scope_of(&call).await?;
    let key_id = key_in_path(&call)?;
    call.require_live().await?;
    let made = call.state.authenticator.generate_key()?;
    let new = NewSecret { id: made.id, hash: made.hash.to_vec() };
    let rotation = Rotation { key_id, of: None, by: None, overlap, new };
    let db = &call.state.api;
    match store::key::rotate(db, &scope, rotation, None, |_, _| Vec::new()).await? {
        Once::Done(Rotated::Done { new, old }) => {
            let new = new_key(*new, Some(made.text));
            Ok(Answer::created(RotatedApiKey { new, old: api_key(*old) }))
        }
        Once::Done(Rotated::Already) => Err(already_rotated()),
        Once::Done(Rotated::NotFound) => Err(no_such_key()),
        Once::Done(Rotated::MayNot | Rotated::ActorEnded)
        | Once::Replayed { .. }
        | Once::KeyReused => Err(ended()),
    }
}

//! `POST /v1/admin/operator-keys/{id}/rotate`: put a new key in the place of an operator's.

use super::view::{id_in_path, may_give, new_operator_key, no_such_key, operator_key};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::routes::keys::rotate::{already_rotated, overlap};
use api_types::RotatedOperatorKey;
use store::key::NewSecret;
use store::operator_key::Rotated;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Replace an operator key",
    description: "The new key has the name, scopes and lifetime of the old one, which expires after `overlap`; your own key must have these scopes. A key can be replaced once.",
    request: Some("ApiKeyRotate"),
    answers: &[AnswerDoc {
        status: 201,
        text: "Replaced",
        content: Content::Json("RotatedOperatorKey"),
    }],
    problems: &[Code::NotFound, Code::AlreadyRotated],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `already_rotated`; `scope_missing`; `validation_failed`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<RotatedOperatorKey>, Problem> {
    let id = id_in_path(&call)?;
    call.query()?.finish()?;
    let overlap = overlap(&call.body)?;
    call.require_live().await?;
    let db = &call.state.admin;
    // A rotation gives the caller a key with the old key's scopes.
    let key = store::operator_key::find(db, id).await?.filter(|key| key.is_live());
    let key = key.ok_or_else(no_such_key)?;
    may_give(&call, key.scopes.iter().map(String::as_str))?;
    let made = call.state.operators.generate_key()?;
    let secret = NewSecret { id: made.id, hash: made.hash.to_vec() };
    match store::operator_key::rotate(db, id, overlap, secret, call.by()).await? {
        Rotated::Done { new, old } => {
            let (new, old) = (new_operator_key(*new, made.text)?, operator_key(*old)?);
            Ok(Answer::created(RotatedOperatorKey { new, old }))
        }
        Rotated::Already => Err(already_rotated()),
        Rotated::NotFound => Err(no_such_key()),
    }
}

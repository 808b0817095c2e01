//! `POST /v1/keys/{id}/rotate`: put a new API key in the place of one.
//!
//! Both are good until the old one ends, so that nobody who uses it is turned away while it is being replaced.

use super::create::{may_give, may_not_any_more};
use super::view::{api_key, id_in_path, new_key, no_such_key};
use crate::answer::{Answer, to_json};
use crate::auth::ended;
use crate::call::{Call, idempotency_key, key_reused};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::task::{Findings, duration};
use api_types::RotatedApiKey;
use api_types::request::ApiKeyRotate;
use std::time::Duration;
use store::idempotency::Once;
use store::key::{KeyInfo, NewSecret, Rotated, Rotation};

/// How long the old key lives on when nothing is said.
const OVERLAP: Duration = Duration::from_secs(24 * 3600);
/// How long it may.
const LONGEST_OVERLAP: Duration = Duration::from_secs(30 * 24 * 3600);

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Replace an API key",
    description: "The new key has the name, scopes and lifetime of the old one, which expires after `overlap`. It belongs to the \
                  calling user, if any. A key can be replaced once.",
    request: Some("ApiKeyRotate"),
    answers: &[AnswerDoc {
        status: 201,
        text: "Replaced",
        content: Content::Json("RotatedApiKey"),
    }],
    problems: &[Code::NotFound, Code::AlreadyRotated],
    ..Doc::EMPTY
};

/// How long the old key is to stay valid, as the body says.
///
/// # Errors
/// What is wrong with it.
pub(in crate::routes) fn overlap(body: &[u8]) -> Result<Duration, Problem> {
    let spec: ApiKeyRotate =
        if body.is_empty() { ApiKeyRotate::default() } else { json::parse(body)? };
    let mut findings = Findings::new(String::new());
    let range = Duration::ZERO..=LONGEST_OVERLAP;
    let overlap = duration(&mut findings, "/overlap", spec.overlap, range, OVERLAP);
    findings.into_result()?;
    Ok(overlap)
}

/// It has a replacement.
pub(in crate::routes) fn already_rotated() -> Problem {
    Problem::new(Code::AlreadyRotated, "The key was already replaced; rotate its replacement.")
}

/// Answers.
///
/// # Errors
/// `not_found`; `already_rotated`; `validation_failed`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<RotatedApiKey>, Problem> {
    let id = id_in_path(&call)?;
    call.query()?.finish()?;
    let overlap = overlap(&call.body)?;
    let once = idempotency_key(&call)?;
    let (db, scope, user) = (&call.state.api, call.scope(), call.caller.keys_of()?);
    // A rotation gives the old key's scopes to whoever asks for it.
    let key = store::key::get(db, &scope, user, id).await?.ok_or_else(no_such_key)?;
    may_give(&call, &key.scopes)?;
    let made = call.state.authenticator.generate_key()?;
    let new = NewSecret { id: made.id, hash: made.hash.to_vec() };
    let kept = |new: &KeyInfo, old: &KeyInfo| {
        let rotated = RotatedApiKey { new: new_key(new.clone(), None), old: api_key(old.clone()) };
        to_json(&rotated).unwrap_or_default()
    };
    let by = call.caller.makes_keys_for();
    let rotation = Rotation { key_id: id, of: user, by, overlap, new };
    match store::key::rotate(db, &scope, rotation, once.as_ref(), kept).await? {
        Once::Done(Rotated::Done { new, old }) => {
            let new = new_key(*new, Some(made.text));
            Ok(Answer::created(RotatedApiKey { new, old: api_key(*old) }))
        }
        Once::Done(Rotated::Already) => Err(already_rotated()),
        Once::Done(Rotated::NotFound) => Err(no_such_key()),
        Once::Done(Rotated::MayNot) => Err(may_not_any_more()),
        Once::Done(Rotated::ActorEnded) => Err(ended()),
        Once::Replayed { status, body } => Ok(Answer::replayed(status, body)),
        Once::KeyReused => Err(key_reused()),
    }
}

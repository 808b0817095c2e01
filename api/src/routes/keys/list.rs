//! `GET /v1/keys`: a tenant's API keys, newest first.

use super::view::api_key;
use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use api_types::{ApiKey, Page};
use chrono::DateTime;
use store::key::{KeyInfo, KeyPosition};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List API keys, newest first",
    description: "With expired keys, without revoked ones. Without the permission `keys.all`: only keys you created.",
    query: &PAGE,
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("ApiKey") }],
    problems: &[Code::InvalidCursor],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: Call) -> Result<Answer<Page<ApiKey>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn list(call: &Call) -> Result<Page<ApiKey>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let user = call.caller.keys_of()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let whose = user.map(|user| user.to_string());
    let context = Context::new(List::Keys, whose.as_deref());
    let after = page.position(sealer, tenant, context)?;
    let after = after.map(|bytes| read(&bytes).ok_or_else(outdated_cursor)).transpose()?;
    let (db, scope) = (&call.state.api, call.scope());
    let mut keys = store::key::list(db, &scope, user, after.as_ref(), page.limit + 1).await?;
    let more = page.cut(&mut keys);
    let seal = |place: Vec<u8>| sealer.seal(tenant, context, &place);
    pagination::page(keys, more, |key| Ok(api_key(key)), written, seal)
}

/// A key's place in the list, as a cursor has it.
pub(in crate::routes) fn written(key: &KeyInfo) -> Vec<u8> {
    [&key.created_at.timestamp_micros().to_be_bytes()[..], key.id.as_bytes()].concat()
}

/// The place that a cursor names.
pub(in crate::routes) fn read(bytes: &[u8]) -> Option<KeyPosition> {
    let (micros, id) = bytes.split_first_chunk()?;
    let created_at = DateTime::from_timestamp_micros(i64::from_be_bytes(*micros))?;
    Some(KeyPosition { created_at, id: std::str::from_utf8(id).ok()?.to_owned() })
}

//! `GET /v1/concurrency-limits`: the limits that are stored, by key.

use super::view::stored;
use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use api_types::{ConcurrencyLimit, Page};
use domain::batch::ConcurrencyKey;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List concurrency limits, by key",
    description: "Stored limits only. Other keys have a limit of 1.",
    query: &PAGE,
    answers: &[AnswerDoc {
        status: 200,
        text: "A page",
        content: Content::Page("ConcurrencyLimit"),
    }],
    problems: &[Code::InvalidCursor],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: Call) -> Result<Answer<Page<ConcurrencyLimit>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn list(call: &Call) -> Result<Page<ConcurrencyLimit>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let context = Context::new(List::ConcurrencyLimits, []);
    let after = page.position(sealer, tenant, context)?;
    let after = after.map(|bytes| read(&bytes).ok_or_else(outdated_cursor)).transpose()?;
    let (db, scope) = (&call.state.api, call.scope());
    let mut limits = store::concurrency::list(db, &scope, after.as_ref(), page.limit + 1).await?;
    let more = page.cut(&mut limits);
    let seal = |key: ConcurrencyKey| sealer.seal(tenant, context, key.as_str().as_bytes());
    pagination::page(limits, more, |limit| Ok(stored(&limit)), |limit| limit.key.clone(), seal)
}

fn read(bytes: &[u8]) -> Option<ConcurrencyKey> {
    str::from_utf8(bytes).ok()?.parse().ok()
}

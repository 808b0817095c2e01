//! `GET /v1/concurrency-limits`: the limits that are stored, by key.

use super::view::KeyLimitView;
use crate::answer::append_json;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{Page, answer_page, outdated_cursor};
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use domain::batch::ConcurrencyKey;
use store::concurrency::ConcurrencyLimit;

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
/// `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    let mut query = call.query()?;
    let page = Page::take(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let context = Context::new(List::ConcurrencyLimits, []);
    let after = page.position(sealer, tenant, context)?;
    let after = after.map(|bytes| read(&bytes).ok_or_else(outdated_cursor)).transpose()?;
    let (db, scope) = (&call.state.api, call.scope());
    let mut limits = store::concurrency::list(db, &scope, after.as_ref(), page.limit + 1).await?;
    let more = page.cut(&mut limits);
    let view =
        |limit: &ConcurrencyLimit, out: &mut Vec<u8>| append_json(out, &KeyLimitView::from(limit));
    answer_page(&limits, more, view, |limit| {
        sealer.seal(tenant, context, limit.key.as_str().as_bytes())
    })
}

fn read(bytes: &[u8]) -> Option<ConcurrencyKey> {
    str::from_utf8(bytes).ok()?.parse().ok()
}

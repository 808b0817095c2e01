//! `GET /v1/concurrency-limits`: the limits that are stored, by key.

use super::view::KeyLimitView;
use crate::answer::json;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{Page, Sheet, outdated_cursor};
use crate::problem::{Code, Problem};
use crate::request::Call;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use domain::batch::ConcurrencyKey;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List concurrency limits, by key",
    description: "Those that are stored. Of every other key one task runs at a time.",
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
    let last = page.cut(&mut limits);
    let next_cursor = last.map(|limit| sealer.seal(tenant, context, limit.key.as_str().as_bytes()));
    let data = limits.iter().map(KeyLimitView::from).collect();
    json(StatusCode::OK, &Sheet { data, next_cursor })
}

fn read(bytes: &[u8]) -> Option<ConcurrencyKey> {
    str::from_utf8(bytes).ok()?.parse().ok()
}

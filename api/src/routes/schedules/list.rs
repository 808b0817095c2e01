//! `GET /v1/schedules`: a tenant's schedules, by name.

use crate::answer::append_json;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{MAX_BYTES, Page, answer_page, outdated_cursor};
use crate::problem::{Code, Problem};
use crate::schedule::ScheduleView;
use crate::task::no_pool;
use actix_web::HttpResponse;
use store::schedule::{ListLimit, ScheduleRecord};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List schedules, by name",
    description: "With paused and finished schedules, without deleted ones.",
    query: &PAGE,
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("Schedule") }],
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
    let context = Context::new(List::Schedules, []);
    let after = page.position(sealer, tenant, context)?;
    let after = after.map(|bytes| String::from_utf8(bytes).map_err(|_| outdated_cursor()));
    let after = after.transpose()?;
    let (db, scope) = (&call.state.api, call.scope());
    let limit = ListLimit { rows: page.limit + 1, bytes: MAX_BYTES };
    let found = store::schedule::list(db, &scope, after.as_deref(), limit).await?;
    let mut schedules = found.rows;
    let more = page.cut(&mut schedules) || found.more;
    let (pools, user) = (call.state.pools.current().await?, call.caller.pool_user());
    let view = |one: &ScheduleRecord, out: &mut Vec<u8>| {
        let warning = no_pool(&pools, user, &one.template.pool);
        append_json(out, &ScheduleView::from(one).with_warnings(warning.as_slice()))
    };
    answer_page(&schedules, more, view, |one| sealer.seal(tenant, context, one.name.as_bytes()))
}

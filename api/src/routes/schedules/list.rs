//! `GET /v1/schedules`: a tenant's schedules, by name.

use super::place::without_pool;
use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use crate::schedule::schedule;
use api_types::{MAX_PAGE_BYTES, Page, Schedule};
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
/// As [`list`].
pub async fn handle(call: Call) -> Result<Answer<Page<Schedule>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn list(call: &Call) -> Result<Page<Schedule>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let context = Context::new(List::Schedules, []);
    let after = page.position(sealer, tenant, context)?;
    let after = after.map(|bytes| String::from_utf8(bytes).map_err(|_| outdated_cursor()));
    let after = after.transpose()?;
    let (db, scope) = (&call.state.api, call.scope());
    let limit = ListLimit { rows: page.limit + 1, bytes: MAX_PAGE_BYTES };
    let found = store::schedule::list(db, &scope, after.as_deref(), limit).await?;
    let mut schedules = found.rows;
    let more = page.cut(&mut schedules) || found.more;
    let (pools, user) = (call.state.pools.current().await?, call.caller.pool_user());
    let show = |one: ScheduleRecord| {
        let warning = without_pool(&pools, user, &one.template);
        Ok(schedule(one, warning.into_iter().collect()))
    };
    let seal = |name: String| sealer.seal(tenant, context, name.as_bytes());
    pagination::page(schedules, more, show, |one| one.name.clone(), seal)
}

//! `GET /v1/workflows`: a tenant's workflows, by name.

use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use crate::workflow::workflow;
use api_types::{MAX_PAGE_BYTES, Page, Workflow};
use store::workflow::WorkflowRecord;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List workflows, by name",
    query: &PAGE,
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("Workflow") }],
    problems: &[Code::InvalidCursor],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Page<Workflow>>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let context = Context::new(List::Workflows, []);
    let after = page.position(sealer, tenant, context)?;
    let after = after.map(|bytes| String::from_utf8(bytes).map_err(|_| outdated_cursor()));
    let after = after.transpose()?;
    let (db, scope) = (&call.state.api, call.scope());
    let most = (page.limit + 1, MAX_PAGE_BYTES);
    let found = store::workflow::list(db, &scope, after.as_deref(), most).await?;
    let mut rows = found.rows;
    let more = page.cut(&mut rows) || found.more;
    let show = |record: WorkflowRecord| workflow(record, Vec::new());
    let seal = |name: String| sealer.seal(tenant, context, name.as_bytes());
    pagination::page(rows, more, show, |one| one.name.clone(), seal).map(Answer::ok)
}

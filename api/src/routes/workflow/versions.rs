//! `GET /v1/workflows/{name}/versions`: the versions of a workflow, newest first.

use super::no_such_workflow;
use super::place::name_in_path;
use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use crate::workflow::version;
use api_types::{Page, WorkflowVersion};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List the versions of a workflow, newest first",
    query: &PAGE,
    answers: &[AnswerDoc {
        status: 200,
        text: "A page",
        content: Content::Page("WorkflowVersion"),
    }],
    problems: &[Code::InvalidParameter, Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`, `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Page<WorkflowVersion>>, Problem> {
    let name = name_in_path(&call)?;
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let context = Context::new(List::WorkflowVersions, [name]);
    let before = page.position(sealer, tenant, context)?;
    let before = before.map(|bytes| bytes.try_into().map_err(|_| outdated_cursor()));
    let before = before.transpose()?.map(i64::from_be_bytes);
    let (db, scope) = (&call.state.api, call.scope());
    let mut rows = store::workflow::versions(db, &scope, name, before, page.limit + 1).await?;
    // The one that is stored now is always there.
    if rows.is_empty() && store::workflow::get(db, &scope, name).await?.is_none() {
        return Err(no_such_workflow());
    }
    let more = page.cut(&mut rows);
    let show = |record| version(name, record);
    let seal = |number: i64| sealer.seal(tenant, context, &number.to_be_bytes());
    pagination::page(rows, more, show, |one| one.version, seal).map(Answer::ok)
}

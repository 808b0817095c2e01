//! `GET /v1/admin/tenants/{id}/credits`: a tenant's credits, newest first.

use super::super::tenant::billed_tenant;
use super::view::credit;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use api_types::{Credit, Page};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List the credits of a tenant",
    description: "Credits and refunds, newest first, up to 1000.",
    answers: &[AnswerDoc { status: 200, text: "The credits", content: Content::Page("Credit") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<Credit>>, Problem> {
    call.query()?.finish()?;
    let tenant = billed_tenant(&call).await?;
    let found = store::credit::list(&call.state.admin, tenant).await?;
    Ok(Answer::ok(Page::last(found.into_iter().map(credit).collect())))
}

//! `GET /v1/admin/plans`: every plan, by name. They are few: one page.

use super::view::plan;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{Page, Plan};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List plans",
    description: "All, by name.",
    answers: &[AnswerDoc { status: 200, text: "The plans", content: Content::Page("Plan") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<Plan>>, Problem> {
    call.query()?.finish()?;
    let plans = store::plan::list(&call.state.admin).await?;
    Ok(Answer::ok(Page::last(plans.into_iter().map(plan).collect())))
}

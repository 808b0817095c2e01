//! `GET /v1/admin/pools`: every pool, by name. They are few: one page.

use super::view::pool;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{Page, Pool};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List pools",
    description: "All, by name.",
    answers: &[AnswerDoc { status: 200, text: "The pools", content: Content::Page("Pool") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<Pool>>, Problem> {
    call.query()?.finish()?;
    let pools = store::pool::list_for_operator(&call.state.admin).await?;
    Ok(Answer::ok(Page::last(pools.into_iter().map(pool).collect())))
}

//! `GET /v1/spend-caps`: the caps and how they stand, by name.

use super::view::view;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{Page, SpendCap};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List spend caps and how much of them is used",
    description: "All, by name.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The spend caps",
        content: Content::Page("SpendCap"),
    }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: Call) -> Result<Answer<Page<SpendCap>>, Problem> {
    call.query()?.finish()?;
    let caps = store::spend_cap::list(&call.state.api, &call.scope()).await?;
    Ok(Answer::ok(Page::last(caps.into_iter().map(view).collect())))
}

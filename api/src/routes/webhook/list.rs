//! `GET /v1/webhooks`: the webhooks, by name.

use super::view::view;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{Page, Webhook};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List webhooks",
    description: "All, by name.",
    answers: &[AnswerDoc { status: 200, text: "The webhooks", content: Content::Page("Webhook") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: Call) -> Result<Answer<Page<Webhook>>, Problem> {
    call.query()?.finish()?;
    let all = store::webhook::list(&call.state.api, &call.scope()).await?;
    Ok(Answer::ok(Page::last(all.into_iter().map(|record| view(record, None)).collect())))
}

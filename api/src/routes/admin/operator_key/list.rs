//! `GET /v1/admin/operator-keys`: operators' keys, newest first. They are few: one page.

use super::view::operator_key;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{OperatorKey, Page};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List operator keys",
    description: "Newest first, at most 1000. With expired keys, without revoked ones.",
    answers: &[AnswerDoc { status: 200, text: "The keys", content: Content::Page("OperatorKey") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<OperatorKey>>, Problem> {
    call.query()?.finish()?;
    let keys = store::operator_key::list(&call.state.admin).await?;
    let data = keys.into_iter().map(operator_key).collect::<Result<_, _>>()?;
    Ok(Answer::ok(Page::last(data)))
}

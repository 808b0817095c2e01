//! `GET /v1/admin/restore`: what would fire if schedules were resumed now.

use super::view::read;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::Restore;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read whether schedules are held after a restore",
    description: "With the schedules that would fire on resume. Counts all unfinished tasks.",
    answers: &[AnswerDoc { status: 200, text: "How it is", content: Content::Json("Restore") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Restore>, Problem> {
    call.query()?.finish()?;
    Ok(Answer::ok(read(&call).await?))
}

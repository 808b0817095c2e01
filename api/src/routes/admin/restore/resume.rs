//! `POST /v1/admin/restore/resume`: schedules fire again.

use super::view::read;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use crate::request::nothing;
use api_types::Restore;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Resume the schedules that are held after a restore",
    description: "Overdue times are treated by the misfire policy of each schedule. Can be repeated.",
    answers: &[AnswerDoc { status: 200, text: "Resumed", content: Content::Json("Restore") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Restore>, Problem> {
    call.query()?.finish()?;
    nothing(&call.body)?;
    store::installation::resume(&call.state.admin, call.by()).await?;
    Ok(Answer::ok(read(&call).await?))
}

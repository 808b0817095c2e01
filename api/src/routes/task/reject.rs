//! `POST /v1/tasks/{id}/reject`: a person decides what a node of a workflow waits for.

use super::decide::decided;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use api_types::Task;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Reject a task that waits for approval",
    description: "The task of a node with `wait` for `approval` ends `aborted`.",
    request: Some("TaskDecision"),
    answers: &[AnswerDoc { status: 200, text: "The task", content: Content::Json("Task") }],
    problems: &[Code::NotFound, Code::Conflict, Code::OutcomeUnknown],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `validation_failed`; `not_found`; `conflict` where the task does not wait for a person; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Task>, Problem> {
    decided(&call, false).await
}

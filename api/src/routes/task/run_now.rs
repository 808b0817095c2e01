//! `POST /v1/tasks/{id}/run-now`: a task does not wait for its time.

use super::lever::moved;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use api_types::Task;
use domain::task::Lever;
use store::task::lever::PulledLever;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Run a task now",
    description: "A task that waits for its time, or for that of a retry, is due now; its `due_at` stays. A task that waits for its \
                  turn only is returned as it is.",
    answers: &[AnswerDoc { status: 200, text: "The task", content: Content::Json("Task") }],
    problems: &[Code::NotFound, Code::TaskRunning, Code::TaskEnded, Code::OutcomeUnknown],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `task_running`, `task_ended`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Task>, Problem> {
    call.query()?.finish()?;
    nothing(&call.body)?;
    moved(&call, (Lever::RunNow, PulledLever::RunNow)).await
}

//! `POST /v1/tasks/{id}/mark-succeeded`: a task that does not run ends succeeded, because its owner says so.

use super::lever::moved;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::task::{Findings, short_text};
use api_types::Task;
use api_types::request::MarkSucceeded;
use domain::task::Lever;
use store::task::lever::PulledLever;

/// Longest note.
const MAX_NOTE: usize = 500;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Mark a task as succeeded",
    description: "A task that waits ends `succeeded` without an attempt; `reason` has the note. A running task must be cancelled \
                  first. A task that has succeeded is returned as it is.",
    request: Some("TaskMarkSucceeded"),
    answers: &[AnswerDoc { status: 200, text: "The task", content: Content::Json("Task") }],
    problems: &[Code::NotFound, Code::TaskRunning, Code::TaskEnded, Code::OutcomeUnknown],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `validation_failed`; `not_found`; `task_running`, `task_ended`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Task>, Problem> {
    call.query()?.finish()?;
    let MarkSucceeded { note } = json::parse(&call.body)?;
    let mut found = Findings::default();
    short_text(&mut found, "/note", &note, MAX_NOTE);
    found.into_result()?;
    moved(&call, (Lever::MarkSucceeded, PulledLever::MarkSucceeded { note: &note })).await
}

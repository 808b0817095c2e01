//! `POST /v1/tasks/{id}/retry`: try a task again that failed: now where its retry waits, as a new task where it has ended.

use super::get::read;
use super::lever::{Pulled, pulled};
use super::rerun::run_again;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use api_types::Task;
use domain::audit::AuditAction;
use domain::task::Lever;
use serde_json::Map;
use store::task::lever::PulledLever;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Try a task again",
    description: "A task that waits for a retry is due now. A task that has ended, in any state, is run again unchanged as a new task \
                  whose `rerun_of` refers to it.",
    answers: &[
        AnswerDoc { status: 200, text: "The task, due now", content: Content::Json("Task") },
        AnswerDoc { status: 201, text: "The new task", content: Content::Json("Task") },
    ],
    answer_headers: &[AnswerHeader::Location],
    problems: &[
        Code::NotFound,
        Code::TaskWaiting,
        Code::TaskRunning,
        Code::TenantSuspended,
        Code::QuotaExceeded,
        Code::OutcomeUnknown,
    ],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `task_waiting`, `task_running`; of a new task as for a submit; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Task>, Problem> {
    let id = call.task_id()?;
    call.query()?.finish()?;
    nothing(&call.body)?;
    match pulled(&call, (Lever::Retry, PulledLever::Retry)).await? {
        Pulled::Answer(answer) => Ok(answer.at(format!("/v1/tasks/{id}"))),
        Pulled::NewTask => {
            call.caller.require_active()?;
            let task = read(&call, id).await?;
            run_again(&call, task, Map::new(), AuditAction::TaskRetry).await
        }
    }
}

//! `POST /v1/tasks/{id}/cancel`: ask that a task does not run, or stops.
//!
//! The answer says what was done. What runs is told to stop until it confirms, so that answer is 202.

use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use crate::task::task;
use actix_web::http::StatusCode;
use api_types::{CancelResult, CancelledTask};
use bus::Topic;
use domain::id::TaskId;
use store::task::transition::{CancelAnswer, cancel_requested};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Cancel a task",
    description: "A waiting task is cancelled at once. A running task is asked to stop and ends `cancelled`, or `succeeded` if it \
                  was faster. Idempotent.",
    answers: &[
        AnswerDoc {
            status: 200,
            text: "Cancelled, or already finished",
            content: Content::Json("CancelledTask"),
        },
        AnswerDoc {
            status: 202,
            text: "Running; a stop was requested",
            content: Content::Json("CancelledTask"),
        },
    ],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<CancelledTask>, Problem> {
    let task = call.task_id()?;
    call.query()?.finish()?;
    nothing(&call.body)?;
    // Cancelling twice does no harm.
    repeatable(&call, async || cancel(&call, task).await).await
}

async fn cancel(call: &Call, id: TaskId) -> Result<Answer<CancelledTask>, Problem> {
    let (db, scope) = (&call.state.api, call.scope());
    let answers = cancel_requested(db, &scope, &[id], call.state.cancel_grace).await?;
    let (status, done) = match answers.first() {
        Some(CancelAnswer::Cancelled) => (StatusCode::OK, CancelResult::Cancelled),
        Some(CancelAnswer::Requested) => (StatusCode::ACCEPTED, CancelResult::Requested),
        Some(CancelAnswer::AlreadyRequested) => (StatusCode::OK, CancelResult::AlreadyRequested),
        Some(CancelAnswer::Ended(_)) => (StatusCode::OK, CancelResult::AlreadyEnded),
        Some(CancelAnswer::NotFound) | None => return Err(Problem::not_found()),
    };
    if status == StatusCode::ACCEPTED {
        call.state.bus.wake(Topic::ResourceManager);
    } else if matches!(answers.first(), Some(CancelAnswer::Cancelled)) {
        // Tasks that waited for it may be ready, or left to the schedulers.
        call.state.bus.wake(Topic::Batcher);
        call.state.bus.wake(Topic::ShardOwner);
    }
    let found = store::task::get(db, &scope, id).await?.ok_or_else(Problem::not_found)?;
    Ok(Answer::new(status, CancelledTask { task: task(found), cancel: done.into() }))
}

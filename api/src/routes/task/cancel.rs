//! `POST /v1/tasks/{id}/cancel`: ask that a task does not run, or stops.
//!
//! The answer says what was done. What runs is told to stop until it confirms, so that answer is 202.

use crate::answer::to_json;
use crate::call::{Call, repeatable};
use crate::openapi::words::CANCELS;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use crate::task::TaskView;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use bus::Topic;
use domain::id::TaskId;
use serde::Serialize;
use store::task::transition::{CancelAnswer, cancel_requested};
use utoipa::ToSchema;

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

/// The task and the result of the cancel.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CancelledTask)]
pub struct CancelView<'a> {
    /// The task now.
    #[serde(flatten)]
    task: TaskView<'a>,
    /// The result.
    #[schema(value_type = super::super::super::openapi::words::Cancel)]
    cancel: &'static str,
}

/// Answers.
///
/// # Errors
/// `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    let task = call.task_id()?;
    call.query()?.finish()?;
    nothing(&call.body)?;
    // Cancelling twice does no harm.
    repeatable(&call, async || cancel(&call, task).await).await
}

async fn cancel(call: &Call, id: TaskId) -> Result<(StatusCode, Vec<u8>), Problem> {
    let (db, scope) = (&call.state.api, call.scope());
    let answers = cancel_requested(db, &scope, &[id], call.state.cancel_grace).await?;
    let (status, done) = match answers.first() {
        Some(CancelAnswer::Cancelled) => (StatusCode::OK, CANCELS[0]),
        Some(CancelAnswer::Requested) => (StatusCode::ACCEPTED, CANCELS[1]),
        Some(CancelAnswer::AlreadyRequested) => (StatusCode::OK, CANCELS[2]),
        Some(CancelAnswer::Ended(_)) => (StatusCode::OK, CANCELS[3]),
        Some(CancelAnswer::NotFound) | None => return Err(Problem::not_found()),
    };
    if status == StatusCode::ACCEPTED {
        call.state.bus.wake(Topic::ResourceManager);
    }
    let task = store::task::get(db, &scope, id).await?.ok_or_else(Problem::not_found)?;
    let view = CancelView { task: TaskView::new(&task), cancel: done };
    Ok((status, to_json(&view)?))
}

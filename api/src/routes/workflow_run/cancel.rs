//! `POST /v1/workflow-runs/{id}/cancel`.

use super::place::{no_such_run, read, run_id};
use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use crate::workflow::run;
use actix_web::http::StatusCode;
use api_types::{CancelResult, CancelledWorkflowRun};
use bus::Topic;
use store::workflow::run::CancelRunAnswer;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Cancel a workflow run",
    description: "Its waiting tasks are cancelled, its running tasks are asked to stop; the run ends `cancelled` with the last of \
                  them. Idempotent.",
    answers: &[
        AnswerDoc {
            status: 202,
            text: "Requested",
            content: Content::Json("CancelledWorkflowRun"),
        },
        AnswerDoc {
            status: 200,
            text: "Requested before, or already finished",
            content: Content::Json("CancelledWorkflowRun"),
        },
    ],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<CancelledWorkflowRun>, Problem> {
    let id = run_id(&call)?;
    call.query()?.finish()?;
    nothing(&call.body)?;
    // Cancelling twice does no harm.
    repeatable(&call, async || {
        let (status, cancel) =
            match store::workflow::run::cancel(&call.state.api, &call.scope(), id).await? {
                CancelRunAnswer::Requested => {
                    call.state.bus.wake(Topic::ShardOwner);
                    (StatusCode::ACCEPTED, CancelResult::Requested)
                }
                CancelRunAnswer::AlreadyRequested => {
                    (StatusCode::OK, CancelResult::AlreadyRequested)
                }
                CancelRunAnswer::AlreadyEnded(_) => (StatusCode::OK, CancelResult::AlreadyEnded),
                CancelRunAnswer::NotFound => return Err(no_such_run()),
            };
        let run = run(&read(&call).await?);
        Ok(Answer::new(status, CancelledWorkflowRun { run, cancel: cancel.into() }))
    })
    .await
}

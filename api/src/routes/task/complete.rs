//! `POST /v1/tasks/{id}/complete`: how a task ended whose call was taken on.

use crate::answer::Answer;
use crate::call::SignInCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::{Query, json};
use crate::task::{Findings, duration, short_text};
use api_types::CompletedTask;
use api_types::request::{CompletionOutcome, TaskCompletion};
use bus::Topic;
use domain::id::TaskId;
use domain::task::{MAX_RETRY_AFTER, ResultValue};
use identity::Completer;
use runtime::random;
use std::time::Duration;
use store::task::{Completion, CompletionAnswer, complete};

/// Longest reason.
const MAX_REASON: usize = 1000;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Complete a task",
    description: "Ends the attempt of an HTTP task with `\"complete\": \"callback\"`. The call of the attempt carried the `token` as \
                  `Berth-Completion-Token`. A failure is followed by another attempt, with another token, as the task's `retry` says. \
                  Once an attempt is over, a completion changes nothing: the same outcome again is answered 200 with `repeated`, another 409.",
    request: Some("TaskCompletion"),
    answers: &[AnswerDoc {
        status: 200,
        text: "Completed",
        content: Content::Json("CompletedTask"),
    }],
    problems: &[Code::NotFound, Code::Unauthenticated, Code::Conflict, Code::OutcomeUnknown],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found` for what is no task id; `validation_failed`; `unauthenticated` for a token that is not of an attempt of the task; `conflict` where the attempt ended
/// otherwise; what the database said.
pub async fn handle(call: SignInCall) -> Result<Answer<CompletedTask>, Problem> {
    Query::parse(call.request.query_string())?.finish()?;
    let task = call.request.part("id").unwrap_or_default();
    let task: TaskId = task.parse().map_err(|_| Problem::not_found())?;
    let body: TaskCompletion = json::parse(&call.body)?;
    let (token, outcome) = (body.token.clone().into(), body.outcome);
    let completion = read(body)?;
    let db = &call.state.api;
    let completer = Completer::authenticate(db, task, &token).await?;
    let (scope, lease) = (completer.scope(), completer.lease());
    let repeated = match complete(db, scope, lease, &completion, random::unit()).await? {
        CompletionAnswer::Completed(_) => {
            call.state.bus.wake(Topic::Batcher);
            call.state.bus.wake(Topic::ShardOwner);
            false
        }
        CompletionAnswer::Repeated => true,
        CompletionAnswer::Over => {
            let attempt = lease.attempt;
            let detail = format!(
                "Attempt {attempt} of the task is over: it ended otherwise, was cancelled, or was not completed within its execution cap. \
                 Nothing was changed."
            );
            return Err(Problem::new(Code::Conflict, detail));
        }
    };
    Ok(Answer::ok(CompletedTask { id: task, attempt: lease.attempt, outcome, repeated }))
}

/// Checks what is told.
fn read(body: TaskCompletion) -> Result<Completion, Problem> {
    let TaskCompletion { outcome, result, reason, retry_after, .. } = body;
    let mut found = Findings::default();
    let failed = outcome != CompletionOutcome::Succeeded;
    if let Some(reason) = &reason {
        short_text(&mut found, "/reason", reason, MAX_REASON);
    }
    let value = result.and_then(|value| {
        if failed {
            found.wrong("/result", "can be given with the outcome `succeeded` only");
        }
        let text = value.to_string();
        let read = ResultValue::read(text.as_bytes());
        read.map_err(|wrong| found.wrong("/result", wrong.to_string())).ok()
    });
    if reason.is_some() && !failed {
        found.wrong("/reason", "can be given with the outcomes `failed` and `aborted` only");
    }
    if retry_after.is_some() && outcome != CompletionOutcome::Failed {
        found.wrong("/retry_after", "can be given with the outcome `failed` only");
    }
    let retry_after = retry_after.map(|given| {
        let range = Duration::ZERO..=MAX_RETRY_AFTER;
        duration(&mut found, "/retry_after", Some(given), range, Duration::ZERO)
    });
    found.into_result()?;
    let reason = reason.unwrap_or_else(|| "failed, as its completion says".to_owned());
    Ok(match outcome {
        CompletionOutcome::Succeeded => Completion::Succeeded(value),
        CompletionOutcome::Failed => Completion::Failed { reason, retry_after },
        CompletionOutcome::Aborted => Completion::Aborted { reason },
    })
}

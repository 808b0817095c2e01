//! `GET /v1/tasks/{id}/result`: the JSON value that a task returned, as it was written.

use super::get::read;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use store::task::TaskRecord;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read the result of a task",
    description: "The JSON value alone, as the task wrote it: a command to the file named in `BERTH_RESULT`, an HTTP call as its last \
                  answer's body. At most 64 KiB, kept as long as the task. `not_ended` until the task has ended; `no_result` \
                  where it ended without a result, as every task does that did not succeed.",
    answers: &[AnswerDoc { status: 200, text: "The value", content: Content::AnyValue }],
    problems: &[Code::NotFound, Code::NoResult, Code::NotEnded],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found` for unknown, foreign and malformed ids alike; `not_ended`, `no_result`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<()>, Problem> {
    let id = call.task_id()?;
    call.query()?.finish()?;
    let task = read(&call, id).await?;
    let Some(finished_at) = task.finished_at else { return Err(not_ended(&task)) };
    let result = store::task::result(&call.state.api, &call.scope(), id, finished_at).await?;
    result.map(|json| Answer::written(json.into_bytes())).ok_or_else(|| no_result(&task))
}

fn not_ended(task: &TaskRecord) -> Problem {
    let text = format!("The task is {}; read its result once it has ended.", task.state);
    Problem::new(Code::NotEnded, text)
}

fn no_result(task: &TaskRecord) -> Problem {
    Problem::new(Code::NoResult, format!("The task ended {} without a result.", task.state))
}

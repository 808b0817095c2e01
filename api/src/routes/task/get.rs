//! `GET /v1/tasks/{id}`: one task, live or ended.

use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::task::task;
use actix_web::http::StatusCode;
use api_types::Task;
use domain::id::TaskId;
use store::task::TaskRecord;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read one task",
    answers: &[AnswerDoc { status: 200, text: "The task", content: Content::Json("Task") }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found` for unknown, foreign and malformed ids alike; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Task>, Problem> {
    let id = call.task_id()?;
    call.query()?.finish()?;
    Ok(shown(read(&call, id).await?))
}

/// The task, with its version as `ETag`.
pub(super) fn shown(record: TaskRecord) -> Answer<Task> {
    Answer::versioned(StatusCode::OK, record.version, task(record))
}

/// The task, where it is one of the caller's and its plan still keeps it.
///
/// # Errors
/// As [`handle`].
pub(super) async fn read(call: &Call, id: TaskId) -> Result<TaskRecord, Problem> {
    let task = store::task::get(&call.state.api, &call.scope(), id).await?;
    let from = call.ended_from(runtime::clock::wall());
    let shown =
        |task: &TaskRecord| task.finished_at.is_none_or(|at| from.is_none_or(|from| at >= from));
    task.filter(shown).ok_or_else(Problem::not_found)
}

//! `GET /v1/tasks/{id}`: one task, live or ended.

use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, Form, Param};
use crate::problem::{Code, Problem};
use crate::request::wrong_parameter;
use crate::task::task;
use actix_web::http::StatusCode;
use api_types::{Task, TaskCost};
use domain::id::TaskId;
use store::task::TaskRecord;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read one task",
    query: &[Param {
        name: "include",
        text: "`cost`: include what its attempts that have ended cost",
        form: Form::OneOf(&["cost"]),
    }],
    answers: &[AnswerDoc { status: 200, text: "The task", content: Content::Json("Task") }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound, Code::InvalidParameter],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found` for unknown, foreign and malformed ids alike; `invalid_parameter`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Task>, Problem> {
    let id = call.task_id()?;
    let mut query = call.query()?;
    let with_cost = match query.one("include")?.as_deref() {
        None => false,
        Some("cost") => true,
        Some(_) => return Err(wrong_parameter("include", "must be cost")),
    };
    query.finish()?;
    let record = read(&call, id).await?;
    let cost = match with_cost {
        true => Some(store::attempt_cost::of_task(&call.state.api, &call.scope(), id).await?),
        false => None,
    };
    let version = record.version;
    let cost = cost.map(|all| all.into_iter().map(shown_cost).collect());
    Ok(Answer::versioned(StatusCode::OK, version, Task { cost, ..task(record) }))
}

fn shown_cost(cost: store::attempt_cost::TaskCost) -> TaskCost {
    let store::attempt_cost::TaskCost { currency, attempts, cost } = cost;
    TaskCost { currency, unpriced: currency.is_none(), attempts, cost }
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

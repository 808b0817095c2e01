//! `POST /v1/tasks/{id}/rerun`: a new task that runs another one again, and points back to it.
//!
//! What was submitted the first time is submitted anew, through the same checks and limits; the body says what differs. The first
//! task stays as it is, whatever its state.

use super::get::read;
use super::submit::submit;
use crate::answer::{Answer, to_json};
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use api_types::Task;
use api_types::request::{Given, NewTask, Pairs, Retry, Run};
use domain::audit::AuditAction;
use serde_json::{Map, Value, json as value};
use store::task::TaskRecord;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Run a task again as a new task",
    description: "The new task equals the first one as submitted, with the changes of the body; `rerun_of` refers to the first. It \
                  is due at once unless the body has `delay` or `run_at`. The first task may be in any state and does not change. If \
                  an unfinished task of yours has the same `unique_key`, it is returned with status 200.",
    request: Some("TaskRerun"),
    answers: &[
        AnswerDoc { status: 201, text: "The new task", content: Content::Json("Task") },
        AnswerDoc {
            status: 200,
            text: "The task that holds the `unique_key`",
            content: Content::Json("Task"),
        },
    ],
    answer_headers: &[AnswerHeader::Location],
    problems: &[
        Code::NotFound,
        Code::NotAvailable,
        Code::TenantSuspended,
        Code::QuotaExceeded,
        Code::OutcomeUnknown,
    ],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`, also where the task's day was dropped from history; then as for a submit.
pub async fn handle(call: Call) -> Result<Answer<Task>, Problem> {
    call.caller.require_active()?;
    let id = call.task_id()?;
    call.query()?.finish()?;
    let change = change(&call).await?;
    let task = read(&call, id).await?;
    run_again(&call, task, change, AuditAction::TaskRerun).await
}

/// Submits what `task` was submitted as, but for `change`.
///
/// # Errors
/// As for a submit.
pub(super) async fn run_again(
    call: &Call,
    task: TaskRecord,
    change: Map<String, Value>,
    action: AuditAction,
) -> Result<Answer<Task>, Problem> {
    let (id, most) = (task.id, call.state.task_limit(Some(call.caller.limits())));
    let bytes = to_json(&task.run)?.len() + call.body.len();
    match call.reading(bytes, move || changed(task, change, most.bytes)).await? {
        Changed::Spec(spec) => submit(call, *spec, Some((id, action))).await,
        Changed::TooLarge(size) => Err(call.state.refusals.too_large(most, Some(size)).await),
    }
}

/// A task in the form in which it is submitted, with changes.
pub(super) enum Changed {
    Spec(Box<NewTask>),
    /// What it runs has so many bytes.
    TooLarge(usize),
}

/// The task with `change`, where what it runs has no more than `most` bytes then.
///
/// # Errors
/// What cannot be read of it.
pub(super) fn changed(
    task: TaskRecord,
    change: Map<String, Value>,
    most: usize,
) -> Result<Changed, Problem> {
    let mut spec = value!(submitted(task));
    domain::task::change(&mut spec, change);
    // The defaults that stand in it now are no bytes of the client's.
    let size = to_json(&spec["run"])?.len();
    if size > most {
        return Ok(Changed::TooLarge(size));
    }
    json::parse(&to_json(&spec)?).map(Changed::Spec)
}

/// What the body changes; nothing where it is empty.
async fn change(call: &Call) -> Result<Map<String, Value>, Problem> {
    if call.body.is_empty() { Ok(Map::new()) } else { call.parsed().await }
}

/// The task in the form in which it is submitted, without when it was due.
fn submitted(task: TaskRecord) -> NewTask {
    NewTask {
        name: task.name,
        tier: task.tier,
        resources: task.tier.is_none().then(|| task.resources.into()),
        run: task.run.map(Run::from),
        delay_tolerance: Some(task.delay_tolerance.into()),
        execution_cap: Some(task.execution_cap.into()),
        expire_if_late: Some(task.expire_if_late),
        priority: Some(task.priority.into()),
        flexible: Some(task.flexible),
        max_attempts: Some(task.max_attempts),
        retry: task.retry.map(Retry::from),
        delivery: Some(task.delivery),
        pool: Some(task.pool.into()),
        concurrency_key: task.concurrency_key.map(Given::from),
        unique_key: task.unique_key,
        labels: Pairs::some(task.labels),
        ..NewTask::default()
    }
}

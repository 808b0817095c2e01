//! `POST /v1/tasks`: submit one task. Answered after the commit.

use crate::answer::Answer;
use crate::call::{Call, idempotency_key, key_reused};
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, FieldError, Problem, of_write, over_cap};
use crate::submit::{Verdict, Work};
use crate::task::{Links, Origin, Rules, UNKNOWN_PARENT, task as shown};
use actix_web::http::StatusCode;
use api_types::{Task, TaskWarning, request as body};
use domain::audit::AuditAction;
use domain::id::TaskId;
use domain::plan::Quota;
use domain::task::State;
use domain::time::Timestamp;
use std::time::Duration;
use store::task::TaskRecord;
use store::task::submit::NewTask;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Submit a task",
    description: "The response is sent after the task is stored durably. If an unfinished task of yours has the same `unique_key`, \
                  it is returned with status 200. `warnings` reports a task that fits no current executor of its pool: it is stored \
                  and waits.",
    request: Some("TaskSubmit"),
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
        Code::ValidationFailed,
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
/// What is wrong with the task; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Task>, Problem> {
    call.caller.require_active()?;
    call.query()?.finish()?;
    submit(&call, call.parsed().await?, None).await
}

/// What a new task runs again, and as what that is audited.
pub(super) type Again = (TaskId, AuditAction);

/// Stores the task that `spec` asks for, and answers. `again` is the task that it runs again.
///
/// # Errors
/// As [`handle`].
pub(super) async fn submit(
    call: &Call,
    spec: body::NewTask,
    again: Option<Again>,
) -> Result<Answer<Task>, Problem> {
    let pools = call.state.pools.current().await?;
    let rules = Rules {
        limits: &call.state.limits,
        pools: &pools,
        user: call.caller.pool_user(),
        now: runtime::clock::wall(),
        plan: call.caller.limits(),
        links: Links::Stored,
    };
    let rerun_of = again.map(|(of, _)| of);
    let task = NewTask { rerun_of, ..rules.check(spec, String::new(), origin(call)?)? };
    let (asked, warnings) = (FirstAnswer::of(&task), rules.warnings(&task, ""));
    let limiter = &call.state.limiter;
    let admission = limiter.admit(&call.bucket, 1).await;
    if let Some(shortage) = admission.shortage
        && !limiter.is_repeated(&call.bucket, task.idempotency.as_ref()).await?
    {
        return Err(limiter.refuse(shortage, &call.caller));
    }
    let stored = store_in_backlog(call, task, again).await;
    if stored_nothing(&stored) {
        limiter.give_back(&call.bucket, admission.admitted);
    }
    match stored? {
        Verdict::Created(task, created) => {
            let task = TaskRecord::created(&task, &created);
            Ok(answer(StatusCode::CREATED, task, warnings))
        }
        // That one may need something else, or run.
        Verdict::Existing(id) => Ok(answer(StatusCode::OK, read(call, id).await?, Vec::new())),
        Verdict::Replayed(id) => {
            let mut task = asked.as_answered(read(call, id).await?);
            if task.version > 1 && again.is_none() {
                let first = rules.check(call.parsed().await?, String::new(), origin(call)?)?;
                task = unchanged(task, first);
            }
            Ok(answer(StatusCode::CREATED, task, warnings).again())
        }
        Verdict::KeyReused => Err(key_reused()),
        Verdict::OverCap(refusal) => Err(over_cap(&refusal)),
        Verdict::UnknownParents(places) => Err(unknown_parents(&places)),
    }
}

pub(super) fn unknown_parents(places: &[usize]) -> Problem {
    let error = |place: &usize| FieldError {
        pointer: format!("/depends_on/{place}"),
        detail: UNKNOWN_PARENT.to_owned(),
    };
    Problem::with_errors(Code::ValidationFailed, places.iter().map(error).collect())
}

/// Where a task of this call comes from.
fn origin(call: &Call) -> Result<Origin, Problem> {
    Ok(Origin {
        tenant: call.caller.tenant(),
        key_id: call.caller.actor().to_string(),
        traceparent: call.trace.to_string(),
        idempotency: idempotency_key(call)?,
    })
}

/// A task as it was before its owner changed it.
fn unchanged(task: TaskRecord, first: NewTask) -> TaskRecord {
    TaskRecord {
        run: Some(first.spec.run),
        labels: first.spec.labels,
        execution_cap: first.execution_cap,
        priority: first.priority,
        max_attempts: first.max_attempts,
        version: 1,
        ..task
    }
}

/// Stores the task where the tenant's backlog has room for it.
async fn store_in_backlog(
    call: &Call,
    task: NewTask,
    again: Option<Again>,
) -> Result<Verdict, Problem> {
    let (state, key) = (&call.state, task.idempotency.as_ref());
    let room = state.backlog.room(&call.caller, 1).await?;
    if room.tasks() == 0 && !state.limiter.is_repeated(&call.bucket, key).await? {
        return Err(state.refusals.used_up(&call.caller, Quota::Backlog, room.used()).await);
    }
    let verdict = match again {
        None => call.state.intake.submit(task).await,
        Some(again) => rerun(call, task, again).await,
    };
    room.settle(u64::from(
        verdict.as_ref().map_or_else(Problem::may_have_happened, Verdict::is_new),
    ));
    verdict
}

/// Stores a task that runs another one again, with its row of the audit: rare, and so in a transaction of its own.
async fn rerun(call: &Call, task: NewTask, again: Again) -> Result<Verdict, Problem> {
    let (state, scope) = (&call.state, call.scope());
    let _turn = state.storing.take(call.caller.tenant()).await?;
    let answer = store::task::lever::rerun(&state.submit, &scope, again, &task).await;
    let answer = answer.map_err(of_write)?;
    Work::of(std::slice::from_ref(&answer)).wake(&state.bus);
    Ok(Verdict::of(Box::new(task), answer))
}

/// Whether nothing was stored, for certain: then it does not count as submitted.
fn stored_nothing(stored: &Result<Verdict, Problem>) -> bool {
    match stored {
        Ok(Verdict::Created(..) | Verdict::Existing(_)) => false,
        Ok(
            Verdict::Replayed(_)
            | Verdict::KeyReused
            | Verdict::UnknownParents(_)
            | Verdict::OverCap(_),
        ) => true,
        Err(problem) => !problem.may_have_happened(),
    }
}

/// What the first answer showed; a repeated request gets it again.
#[derive(Debug, Clone, Copy)]
struct FirstAnswer {
    delay: Option<Duration>,
    run_at: Option<Timestamp>,
    delay_tolerance: Duration,
    /// It may have been there before, or its parents may have ended.
    depends: bool,
}

impl FirstAnswer {
    fn of(task: &NewTask) -> Self {
        Self {
            delay: task.delay,
            run_at: task.run_at,
            delay_tolerance: task.delay_tolerance,
            depends: task.unique_key.is_some() || task.depends_on.is_some(),
        }
    }

    /// The task as the first answer showed it, before anything had happened to it. With a `unique_key` the first
    /// answer may have been a task that was there already, and with `depends_on` parents may have ended before: then the task is shown as
    /// it is.
    fn as_answered(self, task: TaskRecord) -> TaskRecord {
        if self.depends {
            return task;
        }
        let run_at = self.run_at.unwrap_or(task.created_at + self.delay.unwrap_or_default());
        TaskRecord {
            state: if run_at <= task.created_at { State::Ready } else { State::Scheduled },
            run_at,
            // No schedule made it.
            due_at: run_at,
            start_deadline: run_at + self.delay_tolerance,
            delay_tolerance: self.delay_tolerance,
            attempts: 0,
            failures: 0,
            started_at: None,
            finished_at: None,
            reason: None,
            exit_code: None,
            executor: None,
            reservation: None,
            ..task
        }
    }
}

async fn read(call: &Call, id: TaskId) -> Result<TaskRecord, Problem> {
    let found = store::task::get(&call.state.api, &call.scope(), id).await?;
    // It was there a moment ago and can only have been dropped with its day's history.
    found.ok_or_else(|| {
        Problem::new(Code::NotFound, "The task of this idempotency key was removed from history.")
    })
}

fn answer(status: StatusCode, task: TaskRecord, warnings: Vec<TaskWarning>) -> Answer<Task> {
    let location = format!("/v1/tasks/{}", task.id);
    Answer::new(status, Task { warnings, ..shown(task) }).at(location)
}

//! `POST /v1/tasks/batch`: submit many tasks in one transaction.
//!
//! What is wrong with one task fails that task only; the others are stored together, or none is. The
//! bodies are large, so they are read and checked on a thread of their own, and few batches are stored at once.

use super::submit::{key_reused, mark_replayed};
use crate::answer::{ShownProblem, raw_json};
use crate::openapi::{AnswerDoc, Content, Doc, Param};
use crate::problem::{Code, Problem};
use crate::request::{Call, idempotency_key, json, wrong_parameter};
use crate::server::State;
use crate::submit::REPEATS;
use crate::task::{Origin, Rules, StateView, TaskSpec, TaskView};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use bus::Topic;
use domain::id::PoolName;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::StoreError;
use store::idempotency::IdempotencyKey;
use store::task::TaskRecord;
use store::task::submit::{BatchAnswer, NewTask, SubmitAnswer};
use utoipa::ToSchema;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Submit many tasks",
    description: "Each task is judged by itself; those without mistakes are stored together, durably, before the answer.",
    query: &[Param { name: "return", text: "`full`: whole tasks in the answer" }],
    request: Some("TaskBatch"),
    answers: &[AnswerDoc {
        status: 200,
        text: "What became of each, in order",
        content: Content::Json("BatchResult"),
    }],
    problems: &[Code::ValidationFailed, Code::OutcomeUnknown],
};

/// Many tasks to submit.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TaskBatch)]
pub struct BatchSpec<'a> {
    /// The tasks, 1 to 10 000.
    #[serde(borrow)]
    #[schema(value_type = Vec<TaskSpec>)]
    tasks: Vec<&'a RawValue>,
}

/// What became of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BatchResult)]
pub struct BatchView<'a> {
    /// Tasks stored, or that existed under their `unique_key`.
    accepted: usize,
    /// Tasks with mistakes.
    rejected: usize,
    /// One for each task, in order.
    results: Vec<ItemView<'a>>,
}

/// What became of one task of a batch: `task` or `error`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BatchItem)]
pub struct ItemView<'a> {
    /// Its place in the request, from 0.
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<StateView>)]
    task: Option<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<super::super::super::openapi::words::Problem>)]
    error: Option<ShownProblem<'a>>,
}

/// A task in a batch's answer.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Shown {
    Brief(StateView),
    Full(Box<RawValue>),
}

/// The tasks of a body that can be stored, and where each task of the body went.
#[derive(Debug)]
struct Judged {
    tasks: Vec<NewTask>,
    /// `Ok`: place in `tasks`.
    places: Vec<Result<usize, Problem>>,
}

/// Answers.
///
/// # Errors
/// What is wrong with the body as a whole; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    let mut query = call.query()?;
    let full = match query.one("return")?.as_deref() {
        None | Some("brief") => false,
        Some("full") => true,
        Some(_) => return Err(wrong_parameter("return", "must be brief or full")),
    };
    query.finish()?;
    let key = idempotency_key(&call)?;
    let judged = judged(&call).await?;
    let answer = stored(&call, key.as_ref(), &judged, full).await?;
    match answer {
        BatchAnswer::Fresh(body) => Ok(raw_json(StatusCode::OK, body)),
        BatchAnswer::Replayed(body) => {
            let mut answer = raw_json(StatusCode::OK, body);
            mark_replayed(&mut answer);
            Ok(answer)
        }
        BatchAnswer::KeyReused => Err(key_reused()),
    }
}

async fn judged(call: &Call) -> Result<Judged, Problem> {
    let origin = Origin {
        tenant: call.caller.tenant(),
        key_id: call.caller.key().to_string(),
        traceparent: call.trace.to_string(),
        idempotency: None,
    };
    let pools = call.state.pools.current().await?;
    let (state, body, now) = (Arc::clone(&call.state), call.body.clone(), runtime::clock::wall());
    let judging = tokio::task::spawn_blocking(move || judge(&state, &body, &pools, now, &origin));
    judging
        .await
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error))?
}

fn judge(
    state: &State,
    body: &Bytes,
    pools: &[PoolName],
    now: Timestamp,
    origin: &Origin,
) -> Result<Judged, Problem> {
    let batch: BatchSpec<'_> = json::parse(body)?;
    let most = state.max_batch_tasks;
    if batch.tasks.is_empty() || batch.tasks.len() > most {
        return Err(Problem::at(
            Code::ValidationFailed,
            "/tasks",
            format!("must have 1 to {most} tasks"),
        ));
    }
    let rules = Rules { limits: &state.limits, pools, now };
    let mut judged = Judged { tasks: Vec::new(), places: Vec::with_capacity(batch.tasks.len()) };
    for (index, raw) in batch.tasks.iter().enumerate() {
        let base = format!("/tasks/{index}");
        let task = if raw.get().len() > state.max_task_bytes {
            let detail = format!("a task may have {} bytes at most", state.max_task_bytes);
            Err(Problem::at(Code::PayloadTooLarge, base, detail))
        } else {
            json::parse_at::<TaskSpec>(raw.get().as_bytes(), &base)
                .and_then(|spec| rules.check(spec, base, origin.clone()))
        };
        judged.places.push(task.map(|task| {
            judged.tasks.push(task);
            judged.tasks.len() - 1
        }));
    }
    Ok(judged)
}

async fn stored(
    call: &Call,
    key: Option<&IdempotencyKey>,
    judged: &Judged,
    full: bool,
) -> Result<BatchAnswer, Problem> {
    let state = &call.state;
    let _turn = state
        .batches
        .acquire()
        .await
        .map_err(|_| Problem::new(Code::Unavailable, "The service is stopping."))?;
    let (ready, broken) = (AtomicBool::new(false), AtomicBool::new(false));
    let render = |answers: &[SubmitAnswer]| {
        let any = answers.iter().any(
            |a| matches!(a, SubmitAnswer::Created(c) if c.state == domain::task::State::Ready),
        );
        ready.store(any, Ordering::Relaxed);
        rendered(judged, answers, full).unwrap_or_else(|problem| {
            tracing::error!(cause = problem.cause(), "The answer to a batch cannot be written");
            broken.store(true, Ordering::Relaxed);
            Vec::new()
        })
    };
    let scope = call.scope();
    let insert =
        || store::task::submit::insert_batch(&state.submit, &scope, key, &judged.tasks, render);
    let mut answer = insert().await;
    for _ in 0..REPEATS {
        match &answer {
            // With a key, trying again tells what became of it.
            Err(error) if error.outcome_unknown() && key.is_some() => answer = insert().await,
            Ok(_) | Err(_) => break,
        }
    }
    let answer = answer.map_err(|error| not_stored(&error))?;
    if broken.load(Ordering::Relaxed) {
        return Err(Problem::new(Code::Internal, Code::Internal.advice()));
    }
    if matches!(answer, BatchAnswer::Fresh(_)) && ready.load(Ordering::Relaxed) {
        state.bus.wake(Topic::Batcher);
    }
    Ok(answer)
}

fn not_stored(error: &StoreError) -> Problem {
    let code = if error.outcome_unknown() { Code::OutcomeUnknown } else { Code::of_store(error) };
    Problem::new(code, code.advice()).caused_by(error)
}

fn rendered(judged: &Judged, answers: &[SubmitAnswer], full: bool) -> Result<Vec<u8>, Problem> {
    let mut results = Vec::with_capacity(judged.places.len());
    for (index, place) in judged.places.iter().enumerate() {
        let (task, error) = match place {
            Err(problem) => (None, Some(ShownProblem { problem, request_id: None })),
            Ok(place) => (Some(shown(&judged.tasks[*place], &answers[*place], full)?), None),
        };
        results.push(ItemView { index, task, error });
    }
    let accepted = judged.tasks.len();
    crate::answer::to_json(&BatchView {
        accepted,
        rejected: judged.places.len() - accepted,
        results,
    })
}

fn shown(task: &NewTask, answer: &SubmitAnswer, full: bool) -> Result<Shown, Problem> {
    Ok(match answer {
        SubmitAnswer::Created(created) if full => {
            let json = TaskView::json(&TaskRecord::created(task, created))?;
            let text = String::from_utf8(json).unwrap_or_default();
            Shown::Full(RawValue::from_string(text).map_err(|error| {
                Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error)
            })?)
        }
        SubmitAnswer::Created(created) => {
            Shown::Brief(StateView { id: task.id, state: Some(created.state), existing: false })
        }
        // A batch's tasks carry no keys of their own, so only a unique key can lead elsewhere.
        SubmitAnswer::Existing(id) | SubmitAnswer::Replayed(id) => {
            Shown::Brief(StateView { id: *id, state: None, existing: true })
        }
        SubmitAnswer::KeyReused => {
            return Err(Problem::new(Code::Internal, Code::Internal.advice()));
        }
    })
}

//! `PATCH /v1/tasks/{id}`: change a task before it runs.
//!
//! The task as it is, in the form in which it is submitted, is changed as the body says and checked as a submit. What comes of that is
//! stored only in the version of the task of which it was made; without `If-Match` it is made again of a newer one.

use super::get::{read, shown};
use super::lever::refused;
use super::rerun::{Changed, changed};
use crate::answer::{Answer, to_json};
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem, of_write, over_cap};
use crate::request::{other_version, wanted_version};
use crate::task::{Findings, Links, Origin, Rules};
use api_types::Task;
use bus::Topic;
use domain::task::{Effect, Lever, Run, State};
use serde_json::{Map, Value};
use store::StoreError;
use store::task::TaskRecord;
use store::task::lever::{ChangeAnswer, TaskChange, change};
use store::task::submit::NewTask;

/// Fields of a task that may change.
const FIELDS: [&str; 8] = [
    "run_at",
    "delay",
    "delay_tolerance",
    "priority",
    "labels",
    "execution_cap",
    "max_attempts",
    "run",
];
/// How often a change is made again of a newer version.
const TRIES: u32 = 5;
const FIXED: &str =
    "cannot be changed after the submit; cancel the task and use `rerun` with changes";

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Change a task before it runs",
    description: "Applies to a task that waits for its time, its turn or a retry. A later time postpones a task that is due already. A \
                  change that changes nothing keeps the version.",
    headers: &[IF_MATCH],
    request: Some("TaskChange"),
    answers: &[AnswerDoc { status: 200, text: "The task", content: Content::Json("Task") }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[
        Code::SpendCapReached,
        Code::NotFound,
        Code::TaskRunning,
        Code::TaskEnded,
        Code::VersionMismatch,
        Code::ValidationFailed,
        Code::OutcomeUnknown,
    ],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `task_running`, `task_ended`; `version_mismatch`; what is wrong with the change; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Task>, Problem> {
    let id = call.task_id()?;
    call.query()?.finish()?;
    let if_version = wanted_version(call.request.headers())?;
    let patch = patch(&call).await?;
    for _ in 0..TRIES {
        let task = read(&call, id).await?;
        let version = task.version;
        if if_version.is_some_and(|wanted| wanted != version) {
            return Err(other_version("task", Some(version)));
        }
        Effect::of(Lever::Change, task.state).map_err(|why| refused(Lever::Change, why))?;
        let wanted = checked(&call, &task, &patch).await?;
        let fields = TaskChange::between(&task, &wanted);
        if fields.is_empty() {
            return Ok(shown(task));
        }
        let (db, scope) = (&call.state.api, call.scope());
        match change(db, &scope, (id, version), &fields).await.map_err(of_write)? {
            ChangeAnswer::Changed(task) => {
                wake(&call, &task, &fields);
                return Ok(shown(*task));
            }
            ChangeAnswer::VersionMismatch { version } if if_version.is_some() => {
                return Err(other_version("task", Some(version)));
            }
            ChangeAnswer::VersionMismatch { .. } => {}
            ChangeAnswer::TooFewAttempts { failures } => return Err(too_few(failures)),
            ChangeAnswer::Refused(why) => return Err(refused(Lever::Change, why)),
            ChangeAnswer::OverCap(refusal) => return Err(over_cap(&refusal)),
            ChangeAnswer::NotFound => return Err(Problem::not_found()),
        }
    }
    Err(StoreError::Contended.into())
}

/// The body, where it names only what may change.
async fn patch(call: &Call) -> Result<Map<String, Value>, Problem> {
    let patch: Map<String, Value> =
        if call.body.is_empty() { Map::new() } else { call.parsed().await? };
    let mut found = Findings::default();
    for (name, value) in &patch {
        if !FIELDS.contains(&name.as_str()) {
            found.wrong_entry("", name, FIXED);
        } else if ["run_at", "delay"].contains(&name.as_str()) && value.is_null() {
            found.wrong_entry("", name, "must be given; to start at once use `run-now`");
        }
    }
    if let Some(run) = patch.get("run") {
        only(&mut found, ("/run", run), "command");
    }
    if let Some(command) = patch.get("run").and_then(|run| run.get("command")) {
        only(&mut found, ("/run/command", command), "env");
    }
    found.into_result().map(|()| patch)
}

/// Of the object at a place only `field` may change.
fn only(found: &mut Findings, (at, value): (&str, &Value), field: &str) {
    match value.as_object() {
        None => found.wrong(at, FIXED),
        Some(fields) => {
            for name in fields.keys().filter(|name| *name != field) {
                found.wrong_entry(at, name, FIXED);
            }
        }
    }
}

/// The task as it is to be.
async fn checked(
    call: &Call,
    task: &TaskRecord,
    patch: &Map<String, Value>,
) -> Result<NewTask, Problem> {
    if patch.contains_key("run") && !matches!(task.run, Some(Run::Command(_))) {
        return Err(Problem::at(
            Code::ValidationFailed,
            "/run/command",
            "does not apply: the task runs no command",
        ));
    }
    let most = call.state.task_limit(Some(call.caller.limits()));
    let bytes = to_json(&task.run)?.len() + call.body.len();
    let (before, patch) = (task.clone(), patch.clone());
    let spec = match call.reading(bytes, move || changed(before, patch, most.bytes)).await? {
        Changed::Spec(spec) => *spec,
        Changed::TooLarge(size) => {
            return Err(call.state.refusals.too_large(most, Some(size)).await);
        }
    };
    let pools = call.state.pools.current().await?;
    let rules = Rules {
        limits: &call.state.limits,
        pools: &pools,
        user: call.caller.pool_user(),
        now: runtime::clock::wall(),
        plan: call.caller.limits(),
        links: Links::Stored,
    };
    let origin = Origin {
        tenant: call.caller.tenant(),
        key_id: call.caller.actor().to_string(),
        traceparent: call.trace.to_string(),
        idempotency: None,
    };
    rules.check(spec, String::new(), origin)
}

fn too_few(failures: u32) -> Problem {
    let detail = format!("must be above {failures}: so many attempts have failed");
    Problem::at(Code::ValidationFailed, "/max_attempts", detail)
}

/// Wakes whoever is to look at the task now.
fn wake(call: &Call, task: &TaskRecord, fields: &TaskChange) {
    if task.state == State::Ready {
        call.state.bus.wake(Topic::Batcher);
    } else if fields.run_at.is_some() || fields.delay.is_some() {
        call.state.bus.wake(Topic::ShardOwner);
    }
}

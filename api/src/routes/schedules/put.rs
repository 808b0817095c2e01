//! `PUT /v1/schedules/{name}`: make a schedule, or change it. The same again changes nothing.

use super::place::{mismatch, name_in_path, started, stored, wanted_version};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, FieldError, Problem};
use crate::request::json;
use crate::schedule::{NO_PARENTS, WORKFLOW, check};
use crate::task::{Need, Origin, Rules, warnings};
use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use api_types::Schedule;
use api_types::TaskWarning;
use api_types::request::NewSchedule;
use bus::Topic;
use domain::plan::Quota;
use domain::schedule::{TaskTemplate, Timing, WorkflowStart};
use domain::workflow::Plan;
use runtime::clock::wall;
use std::sync::Arc;
use store::schedule::{PutAnswer, PutSchedule};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a schedule under its name",
    description: "Idempotent: an equal schedule keeps its version and due times. A change applies to every fire after the response. \
                  `warnings` reports a task that fits no current executor of its pool. With `workflow`, each fire starts a run of the \
                  version at that time.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("SchedulePut"),
    answers: &[
        AnswerDoc { status: 201, text: "Created", content: Content::Json("Schedule") },
        AnswerDoc {
            status: 200,
            text: "Changed, or unchanged",
            content: Content::Json("Schedule"),
        },
    ],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[
        Code::NotAvailable,
        Code::TenantSuspended,
        Code::QuotaExceeded,
        Code::VersionMismatch,
    ],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with the schedule; `version_mismatch`; `quota_exceeded`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Schedule>, Problem> {
    call.caller.require_active()?;
    call.query()?.finish()?;
    let name = name_in_path(&call)?;
    let if_version = wanted_version(&call)?;
    let Checked { schedule, never, warnings } = checked(&call, name, if_version).await?;
    // Due times of its versions may take long to find.
    let _turn = call.state.computing.take(call.caller.tenant()).await?;
    let (db, scope) = (&call.state.api, call.scope());
    match store::schedule::put(db, &scope, &schedule).await? {
        PutAnswer::Created(new) => {
            call.state.bus.wake(Topic::ShardOwner);
            Ok(stored(StatusCode::CREATED, *new, warnings))
        }
        PutAnswer::Updated(new) => {
            call.state.bus.wake(Topic::ShardOwner);
            Ok(stored(StatusCode::OK, *new, warnings))
        }
        PutAnswer::Unchanged(old) => Ok(stored(StatusCode::OK, *old, warnings)),
        PutAnswer::QuotaReached { limit } => {
            Err(call.state.refusals.used_up(&call.caller, Quota::Schedules, limit.into()).await)
        }
        PutAnswer::VersionMismatch { version } => Err(mismatch(version)),
        PutAnswer::UnknownWorkflow => Err(unknown_workflow()),
        PutAnswer::NeverFires => Err(never_fires(never)),
    }
}

/// The refusal of a schedule that is never due.
pub(in crate::routes) fn never_fires(never: Option<FieldError>) -> Problem {
    let whole = || FieldError {
        pointer: "/timing".to_owned(),
        detail: "has no future due time; change it or delete the schedule".to_owned(),
    };
    Problem::with_errors(Code::ValidationFailed, vec![never.unwrap_or_else(whole)])
}

/// A schedule without mistakes.
struct Checked {
    schedule: PutSchedule,
    /// Why it is never due, where it is not. Whether that is a mistake is the store's to say: the same schedule put again after its last
    /// due time is none.
    never: Option<FieldError>,
    warnings: Vec<TaskWarning>,
}

async fn checked(call: &Call, name: &str, if_version: Option<i64>) -> Result<Checked, Problem> {
    let looked = look(call, call.body.clone(), Some(name)).await?;
    let LookedAt { checked, warnings, .. } = looked;
    let schedule = PutSchedule {
        name: name.to_owned(),
        timing: checked.timing,
        template: checked.template,
        overlap: checked.overlap,
        misfire: checked.misfire,
        pause_after_failures: checked.pause_after_failures,
        paused: checked.paused,
        created_by: call.caller.actor().to_string().into(),
        if_version,
    };
    Ok(Checked { schedule, never: checked.never, warnings })
}

/// A schedule of which nothing is wrong, but that it may never be due.
pub(in crate::routes) struct LookedAt {
    pub checked: crate::schedule::Checked,
    pub warnings: Vec<TaskWarning>,
    /// Of a schedule of a workflow: the version that it would run now, with its input.
    pub plan: Option<Plan>,
}

/// Checks the schedule in `body`, which is stored under `name`, or would be.
///
/// # Errors
/// All that is wrong with it; what the database said.
pub(in crate::routes) async fn look(
    call: &Call,
    body: Bytes,
    name: Option<&str>,
) -> Result<LookedAt, Problem> {
    let pools = call.state.pools.current().await?;
    let now = wall();
    let origin = Origin {
        tenant: call.caller.tenant(),
        key_id: call.caller.actor().to_string(),
        traceparent: call.trace.to_string(),
        idempotency: None,
    };
    let (state, caller) = (Arc::clone(&call.state), call.caller.clone());
    // Its due times may take long to find.
    let look = move || {
        let spec: NewSchedule = json::parse(&body)?;
        let (user, plan) = (caller.pool_user(), caller.limits());
        let links = NO_PARENTS;
        let rules = Rules { limits: &state.limits, pools: &pools, user, now, plan, links };
        let checked = check(spec, &rules, origin, now)?;
        let of_task = |template: &TaskTemplate| {
            let TaskTemplate { pool, resources, tier, .. } = template;
            let need = Need { pool, resources: *resources, tier: *tier, base: "/task" };
            warnings(&pools, need)
        };
        let warnings = checked.template.task().map(of_task).unwrap_or_default();
        Ok((checked, warnings))
    };
    let (checked, warnings) = call.state.computing.compute(call.caller.tenant(), look).await?;
    if !checked.refused.is_empty() && !is_stored(call, name, &checked.timing).await? {
        return Err(Problem::with_errors(Code::ValidationFailed, checked.refused));
    }
    let plan = match checked.template.workflow() {
        Some(start) => Some(can_start(call, start).await?),
        None => None,
    };
    Ok(LookedAt { checked, warnings, plan })
}

/// Checks that there is such a workflow, and that its present version can run with this input.
async fn can_start(call: &Call, start: &WorkflowStart) -> Result<Plan, Problem> {
    let found = store::workflow::get(&call.state.api, &call.scope(), &start.workflow).await?;
    let record = found.ok_or_else(unknown_workflow)?;
    started(call, record, (start, &format!("{WORKFLOW}/input"))).await
}

fn unknown_workflow() -> Problem {
    let detail = "is not the name of one of your workflows";
    Problem::at(Code::ValidationFailed, format!("{WORKFLOW}/name"), detail)
}

/// Whether the schedule `name` has this timing already: it was taken when less was refused.
pub(in crate::routes) async fn is_stored(
    call: &Call,
    name: Option<&str>,
    timing: &Timing,
) -> Result<bool, Problem> {
    let Some(name) = name else { return Ok(false) };
    let stored = store::schedule::get(&call.state.api, &call.scope(), name).await?;
    Ok(stored.is_some_and(|stored| stored.timing == *timing))
}

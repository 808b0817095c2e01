//! Which schedule a request is about, in which version; and the answer that shows one.

use crate::answer::Answer;
use crate::call::Call;
use crate::problem::{Code, Problem};
use crate::request::{json, wanted_version as version_of};
use crate::schedule::schedule;
use crate::task::{no_pool, schedules_held, usable};
use crate::workflow::with_input;
use actix_web::http::StatusCode;
use api_types::{Schedule, TaskWarning};
use domain::id::{PoolName, ScheduleId};
use domain::pool::PoolUser;
use domain::schedule::{FireTemplate, WorkflowStart};
use domain::workflow::Plan;
use serde_json::Value;
use std::collections::BTreeSet;
use store::pool::SubmitPool;
use store::schedule::ScheduleRecord;
use store::workflow::WorkflowRecord;

/// Longest name.
pub(in crate::routes) const MAX_NAME: usize = 100;

/// The schedule named in the path.
///
/// # Errors
/// `invalid_parameter` for what can be none.
pub(super) fn name_in_path(call: &Call) -> Result<&str, Problem> {
    let name = call.request.part("name").unwrap_or_default();
    if is_name(name) {
        return Ok(name);
    }
    let detail = format!(
        "must have 1 to {MAX_NAME} of a-z A-Z 0-9 _ . -, begin with a letter or digit, and not be `preview`"
    );
    Err(Problem::at(Code::InvalidParameter, "path:name", detail))
}

/// Whether a schedule can be called so.
pub(in crate::routes) fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(plain)
        && name.as_bytes()[0].is_ascii_alphanumeric()
        && name != "preview"
}

/// The version that `If-Match` asks for; 0, where `If-None-Match: *` asks that there is none.
///
/// # Errors
/// `invalid_parameter` for what is no version, or for both.
pub(super) fn wanted_version(call: &Call) -> Result<Option<i64>, Problem> {
    version_of(call.request.headers())
}

/// "Not found", in the same words for a foreign, an unknown and a deleted one.
pub(crate) fn no_such_schedule() -> Problem {
    Problem::no_such("schedule")
}

/// It is in another version than was asked for.
pub(super) fn mismatch(version: Option<i64>) -> Problem {
    let detail = match version {
        Some(version) => format!("The schedule has version {version}."),
        None => "The schedule does not exist.".to_owned(),
    };
    Problem::new(Code::VersionMismatch, detail)
}

/// Shows a schedule to whoever reads it, with its version as `ETag`. It warns where its due times make no task.
pub(super) async fn shown(
    call: &Call,
    schedule: ScheduleRecord,
) -> Result<Answer<Schedule>, Problem> {
    let pools = call.state.pools.current().await?;
    let of_pool = without_pool(&pools, call.caller.pool_user(), &schedule.template);
    let held = store::installation::held_for_tenant(&call.state.api, &call.scope()).await?;
    let warnings = of_pool.into_iter().chain(held.map(|_| schedules_held())).collect();
    Ok(stored(StatusCode::OK, schedule, warnings))
}

/// What to know of a schedule whose task has no pool. Those of a workflow are looked at when a run is started.
pub(super) fn without_pool(
    pools: &[SubmitPool],
    user: PoolUser<'_>,
    template: &FireTemplate,
) -> Option<TaskWarning> {
    no_pool(pools, user, &template.task()?.pool)
}

/// The plan of a run that a schedule starts now, with its input, which stands at `base`.
///
/// # Errors
/// `validation_failed` for what the input does not have.
pub(super) async fn started(
    call: &Call,
    record: WorkflowRecord,
    (start, base): (&WorkflowStart, &str),
) -> Result<Plan, Problem> {
    let (input, base) = (start.input.clone(), base.to_owned());
    let bytes = record.plan.len() + input.as_ref().map_or(0, String::len);
    let read = move || {
        let input = match input {
            Some(input) => json::parse(input.as_bytes())?,
            None => Value::Null,
        };
        with_input(record.plan()?, &input, &base)
    };
    call.reading(bytes, read).await
}

/// The schedule of this id, whether there is one or not; else the one of this name.
///
/// # Errors
/// `not_found` for one of no such name; what the database said.
pub(crate) async fn schedule_of(call: &Call, text: &str) -> Result<ScheduleId, Problem> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let found = store::schedule::find_id(&call.state.api, &call.scope(), text).await?;
    found.ok_or_else(|| no_such_schedule().called(text))
}

/// A pool of the plan that its owner may not use, or that does not exist.
pub(super) async fn pool_of_none(call: &Call, plan: &Plan) -> Result<Option<PoolName>, Problem> {
    let (pools, user) = (call.state.pools.current().await?, call.caller.pool_user());
    let named: BTreeSet<_> = plan.nodes.iter().map(|node| &node.task.pool).collect();
    let gone = named.into_iter().find(|pool| usable(&pools, user, pool.as_str()).is_none());
    Ok(gone.cloned())
}

/// The definition of which a schedule starts runs, and what they are made of now. That a schedule names it keeps it from being deleted.
///
/// # Errors
/// `conflict` where it is gone, cannot run with its input, or has a pool that is none.
pub(in crate::routes) async fn run_now(
    call: &Call,
    start: &WorkflowStart,
) -> Result<((String, i64), Plan), Problem> {
    let name = &start.workflow;
    let found = store::workflow::get(&call.state.api, &call.scope(), name).await?;
    let gone = || Problem::new(Code::Conflict, format!("Workflow `{name}` does not exist."));
    let record = found.ok_or_else(gone)?;
    let version = record.version;
    let plan = started(call, record, (start, "")).await.map_err(|problem| {
        let Some(first) = problem.errors().first() else { return problem };
        let detail = format!(
            "Version {version} of workflow `{name}` cannot run with the input of the schedule: {}",
            first.detail
        );
        Problem::new(Code::Conflict, detail)
    })?;
    match pool_of_none(call, &plan).await? {
        Some(pool) => {
            let detail = format!(
                "`{pool}` is not a pool of this installation; change the pool of the nodes of workflow `{name}`."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        None => Ok(((name.clone(), version), plan)),
    }
}

/// A schedule that is not fired now, because of its pool.
pub(super) fn unavailable(pool: &PoolName) -> Problem {
    let detail = format!(
        "`{pool}` is not a pool of this installation; change the pool of the schedule's `task`."
    );
    Problem::new(Code::Conflict, detail)
}

/// Shows a schedule, with its version as `ETag` and what its owner should know of it.
pub(super) fn stored(
    status: StatusCode,
    record: ScheduleRecord,
    warnings: Vec<TaskWarning>,
) -> Answer<Schedule> {
    Answer::versioned(status, record.version, schedule(record, warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_not_the_word_of_another_route() {
        for good in ["a", "report", "Report-2.daily_x", "0", &"x".repeat(100)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "preview", ".", "..", ".x", "-x", "a b", "a/b", "ä", &"x".repeat(101)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}

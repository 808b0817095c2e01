//! `POST /v1/schedules/{name}/trigger` of a schedule that starts workflow runs.

use super::place::run_now;
use crate::answer::to_json;
use crate::call::Call;
use crate::problem::{Problem, of_write};
use crate::schedule::fire;
use domain::plan::Quota;
use store::idempotency::{IdempotencyKey, Once};
use store::schedule::{FireRecord, TriggerAnswer, TriggerRun, trigger_run};
use store::workflow::run::RunOf;

pub(super) type Fired = Result<Once<TriggerAnswer>, Problem>;

/// How often a schedule is read again that was changed meanwhile.
const TRIES: usize = 3;

/// Starts a run where the tenant's backlog has room for its tasks.
pub(super) async fn start_in_backlog(
    call: &Call,
    name: &str,
    key: Option<&IdempotencyKey>,
) -> Fired {
    for _ in 0..TRIES {
        let fired = start(call, name, key).await;
        if !matches!(fired, Ok(Once::Done(TriggerAnswer::Otherwise))) {
            return fired;
        }
    }
    Ok(Once::Done(TriggerAnswer::Otherwise))
}

async fn start(call: &Call, name: &str, key: Option<&IdempotencyKey>) -> Fired {
    let (state, caller, scope) = (&call.state, &call.caller, call.scope());
    let Some(schedule) = store::schedule::get(&state.api, &scope, name).await? else {
        return Ok(Once::Done(TriggerAnswer::NotFound));
    };
    let Some(started) = schedule.template.workflow() else {
        return Ok(Once::Done(TriggerAnswer::Otherwise));
    };
    let (workflow, plan) = run_now(call, started).await?;
    let tasks = plan.nodes.len() as u64;
    let of = RunOf {
        tenant: caller.tenant(),
        workflow: Some(workflow),
        plan,
        input: started.input.clone(),
        started_by: caller.actor().to_string(),
        traceparent: Some(call.trace.to_string()),
        fired: None,
    };
    // It takes a connection that batches take theirs from.
    let _turn = state.storing.take(caller.tenant()).await?;
    let room = state.backlog.room(caller, tasks).await?;
    if room.tasks() < tasks && !state.limiter.is_repeated(&call.bucket, key).await? {
        return Err(state.refusals.used_up(caller, Quota::Backlog, room.used()).await);
    }
    let limits = caller.limits();
    let most_tasks = i64::try_from(limits.of(Quota::WorkflowTasks)).unwrap_or(i64::MAX);
    let most = (limits.of(Quota::WorkflowRuns), most_tasks);
    let run = TriggerRun { of: &of, version: schedule.version, most };
    let kept = |fired: &FireRecord| to_json(&fire(fired)).unwrap_or_default();
    let fired = trigger_run(&state.submit, (&scope, key), name, run, kept).await;
    let fired = fired.map_err(of_write);
    room.settle(if is_new(&fired) { tasks } else { 0 });
    fired
}

/// Whether there is a task more, or may be.
pub(super) fn is_new(fired: &Fired) -> bool {
    match fired {
        Ok(Once::Done(TriggerAnswer::Fired(_))) => true,
        Ok(_) => false,
        Err(problem) => problem.may_have_happened(),
    }
}

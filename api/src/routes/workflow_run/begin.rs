//! Starts a run that has been checked: by its limits, and in one transaction.

use crate::answer::{Answer, to_json};
use crate::call::{Call, idempotency_key, key_reused};
use crate::problem::{Code, Problem, of_write};
use crate::request::json;
use crate::task::usable;
use api_types::WorkflowRun;
use bus::Topic;
use domain::id::WorkflowRunId;
use domain::plan::Quota;
use domain::time::Timestamp;
use domain::workflow::{Plan, RunState};
use std::collections::BTreeSet;
use store::task::submit::FiredBy;
use store::workflow::run::{NewRun, RunOf, StartAnswer};

/// What a run is of, but for who starts it.
pub(super) struct Begun {
    pub workflow: Option<(String, i64)>,
    pub plan: Plan,
    pub input: Option<String>,
    /// The fire that started the run before.
    pub fired: Option<FiredBy>,
}

/// What a run is of.
pub(super) fn run_of(call: &Call, Begun { workflow, plan, input, fired }: Begun) -> RunOf {
    RunOf {
        tenant: call.caller.tenant(),
        workflow,
        plan,
        input,
        started_by: call.caller.actor().to_string(),
        traceparent: Some(call.trace.to_string()),
        fired,
    }
}

/// Starts `new`. Of the rate of submits it is one.
///
/// # Errors
/// `conflict` where a pool of it is none any more; `rate_limited`, `quota_exceeded`; `idempotency_key_reuse`; what the database said.
pub(super) async fn begin(call: &Call, new: NewRun) -> Result<Answer<WorkflowRun>, Problem> {
    usable_pools(call, &new.of.plan).await?;
    let key = idempotency_key(call)?;
    let admitted = call.state.limiter.admit(&call.bucket, 1).await;
    if let Some(shortage) = admitted.shortage
        && !call.state.limiter.is_repeated(&call.bucket, key.as_ref()).await?
    {
        return Err(call.state.limiter.refuse(shortage, &call.caller));
    }
    let started = in_backlog(call, key.as_ref(), &new).await;
    let is_new = match &started {
        Ok(StartAnswer::Started(_)) => true,
        Ok(_) => false,
        Err(problem) => problem.may_have_happened(),
    };
    if !is_new {
        call.state.limiter.give_back(&call.bucket, admitted.admitted);
    }
    let quota = call.caller.limits().of(Quota::WorkflowRuns);
    match started? {
        StartAnswer::Started(body) => {
            call.state.bus.wake(Topic::Batcher);
            call.state.bus.wake(Topic::ShardOwner);
            Ok(Answer::replayed(201, body).first().at(format!("/v1/workflow-runs/{}", new.id)))
        }
        StartAnswer::Replayed(body) => {
            let Stored { id } = json::parse(&body)?;
            Ok(Answer::replayed(201, body).at(format!("/v1/workflow-runs/{id}")))
        }
        StartAnswer::KeyReused => Err(key_reused()),
        StartAnswer::QuotaReached => {
            Err(call.state.refusals.used_up(&call.caller, Quota::WorkflowRuns, quota).await)
        }
        StartAnswer::Forgotten(_) => {
            let detail = "Some tasks of the run have been removed from history, so their results cannot be taken over. \
                          Start a new run.";
            Err(Problem::new(Code::Conflict, detail))
        }
    }
}

/// Of a run that was answered before.
#[derive(serde::Deserialize)]
struct Stored {
    id: WorkflowRunId,
}

/// Checks that the pools of a plan that was stored before are still pools of its owner.
///
/// # Errors
/// `conflict` where one is none; what the database said.
pub(in crate::routes) async fn usable_pools(call: &Call, plan: &Plan) -> Result<(), Problem> {
    let (pools, user) = (call.state.pools.current().await?, call.caller.pool_user());
    let named: BTreeSet<&str> = plan.nodes.iter().map(|node| node.task.pool.as_str()).collect();
    let gone = named.into_iter().find(|name| usable(&pools, user, name).is_none());
    match gone {
        None => Ok(()),
        Some(name) => {
            let detail = format!(
                "`{name}` is not a pool of this installation; change the pool of the workflow's nodes."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
    }
}

async fn in_backlog(
    call: &Call,
    key: Option<&store::idempotency::IdempotencyKey>,
    new: &NewRun,
) -> Result<StartAnswer, Problem> {
    let (state, caller, scope) = (&call.state, &call.caller, call.scope());
    // It takes a connection that batches take theirs from.
    let _turn = state.storing.take(caller.tenant()).await?;
    let tasks = new.tasks.len() as u64;
    let room = state.backlog.room(caller, tasks).await?;
    if room.tasks() < tasks && !state.limiter.is_repeated(&call.bucket, key).await? {
        return Err(state.refusals.used_up(caller, Quota::Backlog, room.used()).await);
    }
    let limits = caller.limits();
    let most_tasks = i64::try_from(limits.of(Quota::WorkflowTasks)).unwrap_or(i64::MAX);
    let most = (limits.of(Quota::WorkflowRuns), most_tasks);
    let shown = |at: Timestamp| to_json(&shown(new, at)).unwrap_or_default();
    let started = store::workflow::run::start(&state.submit, (&scope, key), new, most, shown).await;
    let started = started.map_err(of_write);
    let stored = match &started {
        Ok(StartAnswer::Started(_)) => true,
        Ok(_) => false,
        Err(problem) => problem.may_have_happened(),
    };
    room.settle(if stored { tasks } else { 0 });
    started
}

/// The run, as it is shown when it is stored at `at`.
fn shown(new: &NewRun, at: Timestamp) -> WorkflowRun {
    let NewRun { id, of, tasks, rerun_of, .. } = new;
    WorkflowRun {
        id: *id,
        workflow: of.workflow.as_ref().map(|(name, _)| name.clone()),
        version: of.workflow.as_ref().map(|(_, version)| *version),
        state: RunState::Running.into(),
        tasks: tasks.len() as u64,
        ended: 0,
        failed: 0,
        input: of.input.as_deref().and_then(api_types::RawJson::parse),
        labels: of.plan.labels.clone(),
        created_at: at,
        deadline_at: of.plan.deadline.map(|deadline| at + deadline),
        finished_at: None,
        reason: None,
        rerun_of: rerun_of.map(|(id, _)| id),
        schedule: of.fired.as_ref().map(|fired| fired.schedule),
        schedule_name: of.fired.as_ref().map(|fired| fired.name.clone()),
        due_at: of.fired.as_ref().map(|fired| fired.due_at),
        started_by: of.started_by.clone().into(),
        usage: None,
    }
}

//! `POST /v1/schedules/{name}/trigger`: fire now, whatever its times, pause and overlap say.
//!
//! It counts as a task that is submitted. With an idempotency key it happens once: the key and its answer are stored with the fire.

use super::place::{name_in_path, no_such_schedule, unavailable};
use super::trigger_run::{Fired, is_new, start_in_backlog};
use crate::answer::{Answer, to_json};
use crate::call::{Call, idempotency_key, key_reused};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem, of_write, over_cap};
use crate::request::nothing;
use crate::schedule::fire;
use crate::task::usable;
use api_types::Fire;
use bus::Topic;
use domain::id::PoolName;
use domain::plan::Quota;
use store::idempotency::{IdempotencyKey, Once};
use store::schedule::{FireRecord, Trigger, TriggerAnswer};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Fire a schedule now",
    description: "Ignores its timing, pause and overlap policy. Its due times do not change, and the fire does not count against \
                  `max_fires`.",
    answers: &[AnswerDoc {
        status: 201,
        text: "The fire, with its task or workflow run",
        content: Content::Json("Fire"),
    }],
    problems: &[
        Code::NotFound,
        Code::Conflict,
        Code::TenantSuspended,
        Code::QuotaExceeded,
        Code::OutcomeUnknown,
    ],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `conflict` where a task of its `unique_key` has not ended, its pool is none, or its workflow cannot run; `rate_limited`, `quota_exceeded`; `idempotency_key_reuse`; what the
/// database said.
pub async fn handle(call: Call) -> Result<Answer<Fire>, Problem> {
    call.caller.require_active()?;
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    nothing(&call.body)?;
    let key = idempotency_key(&call)?;
    let admitted = call.state.limiter.admit(&call.bucket, 1).await;
    if let Some(shortage) = admitted.shortage
        && !call.state.limiter.is_repeated(&call.bucket, key.as_ref()).await?
    {
        return Err(call.state.limiter.refuse(shortage, &call.caller));
    }
    let mut fired = fire_in_backlog(&call, name, key.as_ref()).await;
    if matches!(fired, Ok(Once::Done(TriggerAnswer::Otherwise))) {
        fired = start_in_backlog(&call, name, key.as_ref()).await;
    }
    if !is_new(&fired) {
        call.state.limiter.give_back(&call.bucket, admitted.admitted);
    }
    match fired? {
        Once::Done(TriggerAnswer::Fired(fired)) => {
            call.state.bus.wake(Topic::Batcher);
            if fired.run.is_some() {
                // For its gates.
                call.state.bus.wake(Topic::ShardOwner);
            }
            Ok(Answer::created(fire(&fired)))
        }
        Once::Done(TriggerAnswer::Existing(task)) => {
            let detail = format!(
                "The schedule's tasks have a `unique_key`, and `{task}` with this key is unfinished."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        Once::Done(TriggerAnswer::OverCap(refusal)) => Err(over_cap(&refusal)),
        Once::Done(TriggerAnswer::NoPool(pool)) => Err(unavailable(&pool)),
        Once::Done(TriggerAnswer::NotFound) => Err(no_such_schedule()),
        Once::Done(TriggerAnswer::Otherwise) => {
            let detail = "The schedule was changed concurrently; repeat the request.";
            Err(Problem::new(Code::Conflict, detail))
        }
        Once::Done(TriggerAnswer::QuotaReached) => {
            let quota = Quota::WorkflowRuns;
            let limit = call.caller.limits().of(quota);
            Err(call.state.refusals.used_up(&call.caller, quota, limit).await)
        }
        Once::Replayed { status, body } => Ok(Answer::replayed(status, body)),
        Once::KeyReused => Err(key_reused()),
    }
}

/// Fires where the tenant's backlog has room for its task.
async fn fire_in_backlog(call: &Call, name: &str, key: Option<&IdempotencyKey>) -> Fired {
    let (state, caller, scope) = (&call.state, &call.caller, call.scope());
    // It takes a connection that batches, and looking keys up, take theirs from.
    let _turn = state.storing.take(caller.tenant()).await?;
    let room = state.backlog.room(caller, 1).await?;
    if room.tasks() == 0 && !state.limiter.is_repeated(&call.bucket, key).await? {
        return Err(state.refusals.used_up(caller, Quota::Backlog, room.used()).await);
    }
    let pools = state.pools.current().await?;
    let admits = |pool: &PoolName| usable(&pools, caller.pool_user(), pool.as_str()).is_some();
    let by = caller.actor().to_string();
    let kept = |fired: &FireRecord| to_json(&fire(fired)).unwrap_or_default();
    let fired = store::schedule::trigger(
        &state.submit,
        &scope,
        name,
        Trigger { by: &by, once: key, admits: &admits },
        kept,
    )
    .await;
    let fired = fired.map_err(of_write);
    room.settle(u64::from(is_new(&fired)));
    fired
}

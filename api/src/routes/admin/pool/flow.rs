//! `GET /v1/admin/pools/{name}/flow`: where a pool's tasks are, and who gets how much of it.

use super::super::named::name_of;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use api_types::{PoolDispatch, PoolFlow, PoolHop, PoolShare};
use domain::id::PoolName;
use store::pool::{Flow, MOST_WAITING};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read where a pool's tasks are",
    description: "Tasks by state and how many are late, what the last dispatch did, and the tenants that wait: what each gets, compared with \
                  its weight. Counts at most 10 000 waiting tasks.",
    answers: &[AnswerDoc { status: 200, text: "The flow", content: Content::Json("PoolFlow") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<PoolFlow>, Problem> {
    call.query()?.finish()?;
    let name: PoolName = name_of(&call)?;
    let db = &call.state.admin;
    store::pool::find(db, &name).await?.ok_or_else(|| Problem::no_such("pool"))?;
    Ok(Answer::ok(shown(name.clone(), store::pool::flow(db, &name).await?)))
}

fn shown(pool: PoolName, flow: Flow) -> PoolFlow {
    let waiting: u64 =
        flow.hops.iter().filter(|hop| hop.state != "running").map(|hop| hop.tasks).sum();
    let weights: f64 = flow.shares.iter().map(|share| share.weight).sum();
    let slots: u64 = flow.shares.iter().map(|share| share.slots).sum();
    let part = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let hops = flow.hops.into_iter().map(|hop| PoolHop {
        state: hop.state,
        tasks: hop.tasks,
        late: hop.late,
        first_deadline: hop.first_deadline,
    });
    let shares = flow.shares.into_iter().map(|share| PoolShare {
        tenant: share.tenant,
        name: share.name,
        weight: share.weight,
        entitled: part(share.weight, weights),
        used: part(share.slots as f64, slots as f64),
        running: share.running,
        tasks_per_second: share.rate,
        ahead: share.ahead,
        before: share.before,
        at_limit: share.is_at_limit,
        finished: share.finished,
        on_time: share.on_time,
    });
    PoolFlow {
        pool,
        as_of: flow.now,
        hops: hops.collect(),
        is_complete: waiting < u64::from(MOST_WAITING),
        dispatch: flow.last_look.map(|look| PoolDispatch {
            stopped: look.stopped,
            slots_per_second: look.rate,
            free_slots: look.free_slots,
            at: look.at,
        }),
        shares: shares.collect(),
    }
}

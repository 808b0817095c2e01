//! Tasks that are priced and not submitted: checked as a submit checks them, but for rates and quotas.

use super::batch::{Piece, Sender};
use super::links::may_be_linked;
use super::submit::unknown_parents;
use super::submit_batch::read;
use crate::call::Call;
use crate::limit::Decision;
use crate::problem::Problem;
use crate::task::{Links, Origin, Rules};
use actix_web::web::Bytes;
use domain::id::TaskId;
use std::collections::HashSet;
use store::task::submit::NewTask;

/// A batch that is not submitted.
pub(in crate::routes) struct QuotedBatch {
    /// The tasks that a submit would take.
    pub tasks: Vec<NewTask>,
    /// The places of the others, and what is wrong with each.
    pub rejected: Vec<(usize, Problem)>,
}

/// Checks a task.
///
/// # Errors
/// What is wrong with it; what the database said.
pub(in crate::routes) async fn task(call: &Call, text: Bytes) -> Result<NewTask, Problem> {
    let most = call.state.task_limit(Some(call.caller.limits()));
    let spec = Piece { index: 0, base: String::new(), text: Some(text) }.read(most)?;
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
    let task = rules.check(spec, String::new(), origin)?;
    let unknown = unknown(call, std::slice::from_ref(&task)).await?;
    let edges = task.depends_on.iter().flat_map(|all| &all.edges).enumerate();
    let places: Vec<_> =
        edges.filter(|(_, edge)| unknown.contains(&edge.parent)).map(|(place, _)| place).collect();
    if places.is_empty() { Ok(task) } else { Err(unknown_parents(&places)) }
}

/// Checks a batch.
///
/// # Errors
/// What is wrong with it as a whole; what the database said.
pub(in crate::routes) async fn batch(call: &Call, text: Bytes) -> Result<QuotedBatch, Problem> {
    let sender = Sender::of(call);
    let is_linked = may_be_linked(&text);
    let pieces = move |sender: &Sender| read(&text, sender.state.max_batch_tasks);
    let pieces = sender.apart(pieces).await?;
    let judged = if is_linked {
        sender.judge_all(pieces).await?
    } else {
        let admitted = pieces.len() as u64;
        sender.judge_admitted(pieces, Decision { admitted, shortage: None }).await?
    };
    let unknown = unknown(call, &judged.tasks).await?;
    if !unknown.is_empty() {
        let of = |task: &NewTask| {
            let edges = task.depends_on.iter().flat_map(|all| &all.edges);
            edges.map(|edge| edge.parent).filter(|parent| unknown.contains(parent)).collect()
        };
        let unknown: Vec<Vec<TaskId>> = judged.tasks.iter().map(of).collect();
        return Err(judged.unknown_parents(&unknown));
    }
    let places = judged.places.into_iter();
    let rejected = places.filter_map(|(index, place)| Some((index, place.err()?))).collect();
    Ok(QuotedBatch { tasks: judged.tasks, rejected })
}

/// The parents of `tasks` that are neither among them nor stored.
async fn unknown(call: &Call, tasks: &[NewTask]) -> Result<HashSet<TaskId>, Problem> {
    let own: HashSet<TaskId> = tasks.iter().map(|task| task.id).collect();
    let edges = tasks.iter().flat_map(|task| &task.depends_on).flat_map(|all| &all.edges);
    let parents = edges.map(|edge| edge.parent).filter(|parent| !own.contains(parent)).collect();
    Ok(store::quote::unknown_tasks(&call.state.api, &call.scope(), &parents).await?)
}

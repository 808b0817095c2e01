//! The graph of a run, as it is shown.

use super::progress::progress;
use super::view::run;
use crate::problem::Problem;
use api_types::{GraphItem, GraphNode, GraphParent, GraphWait, WorkflowGraph};
use domain::dependency::topological_order;
use domain::id::TaskId;
use domain::task::State;
use domain::time::Timestamp;
use domain::workflow::{Plan, starts_by};
use std::collections::HashMap;
use store::workflow::run::{ItemTasks, NodeRecord, RunRecord};

/// The graph of a run whose nodes stand as `nodes`; `items` are the tasks that nodes became, and `states` the states of these. The time is
/// `now`.
///
/// # Errors
/// Where its plan was stored by another release.
pub fn graph(
    record: &RunRecord,
    nodes: Vec<NodeRecord>,
    (items, states): (&ItemTasks, &HashMap<TaskId, State>),
    now: Timestamp,
) -> Result<WorkflowGraph, Problem> {
    let plan = record.plan()?;
    let layers = layers(&plan);
    let all: Vec<_> = nodes.iter().map(progress).collect();
    let starts = starts_by(&plan, &all, now);
    let item = |task: &TaskId| GraphItem {
        task: *task,
        state: states.get(task).map(|state| (*state).into()),
    };
    let of = plan.nodes.iter().zip(nodes).zip(layers).zip(starts);
    let shown = of.map(|(((node, stands), layer), starts_by)| GraphNode {
        name: node.name.clone(),
        task: stands.task,
        state: stands.state.map(Into::into),
        layer,
        after: node
            .after
            .iter()
            .map(|after| GraphParent {
                node: plan.nodes.get(after.node).map_or_else(String::new, |node| node.name.clone()),
                on: after.on.into(),
            })
            .collect(),
        join: (!node.after.is_empty()).then(|| node.join.into()),
        waits_for: match (stands.signal, stands.waits_for_approval) {
            (Some(key), _) => Some(GraphWait { signal: Some(key) }),
            (None, true) => Some(GraphWait { signal: None }),
            (None, false) => None,
        },
        items: items.get(&stands.task).map(|tasks| tasks.iter().map(item).collect()),
        // The id of a run is made before those of its own tasks.
        taken_over: record.rerun_of.is_some() && stands.task.uuid() < record.id.uuid(),
        starts_by,
        attempts: stands.attempts,
        started_at: stands.started_at,
        finished_at: stands.finished_at,
        reason: stands.reason,
    });
    Ok(WorkflowGraph { nodes: shown.collect(), run: run(record) })
}

/// The layer of each node: one more than the largest of its parents.
fn layers(plan: &Plan) -> Vec<u32> {
    let edges: Vec<(usize, usize)> = plan
        .nodes
        .iter()
        .enumerate()
        .flat_map(|(child, node)| node.after.iter().map(move |after| (after.node, child)))
        .collect();
    let mut layers = vec![0; plan.nodes.len()];
    for place in topological_order(plan.nodes.len(), &edges).unwrap_or_default() {
        let parents = plan.nodes[place].after.iter();
        layers[place] = parents.map(|after| layers[after.node] + 1).max().unwrap_or(0);
    }
    layers
}

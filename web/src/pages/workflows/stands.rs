//! How a node stands, and how many tasks of a run ended without success, in words.

use api_types::{Extensible, GraphNode, WorkflowRun};
use domain::task::State;

/// The state of a node; one whose turn has come and that waits for somebody is said to wait, not to be scheduled.
pub(super) fn stands(node: &GraphNode) -> String {
    let Some(state) = &node.state else { return "not_kept".to_owned() };
    let is_scheduled = state.is(|state| *state == State::Scheduled);
    match &node.waits_for {
        Some(wait) if is_scheduled && wait.signal.is_some() => "waiting_for_a_signal".to_owned(),
        Some(_) if is_scheduled => "waiting_for_approval".to_owned(),
        _ => state.to_string(),
    }
}

/// Such as `, 1 failed, 3 cancelled`: tasks of the run's own that ended neither `succeeded` nor `skipped`, by how they ended.
pub(super) fn unsuccessful(run: &WorkflowRun, nodes: &[GraphNode]) -> String {
    if run.failed == 0 {
        return String::new();
    }
    let own = nodes.iter().filter(|node| !node.taken_over);
    let all: Option<Vec<&Extensible<State>>> = own
        .flat_map(|node| {
            let items = node.items.iter().flatten().map(|item| item.state.as_ref());
            items.chain([node.state.as_ref()])
        })
        .collect();
    // Of tasks that are not kept any more only the number is known.
    let Some(all) = all else { return format!(", {} unsuccessful", run.failed) };
    let kinds = [State::Failed, State::Aborted, State::Killed, State::Expired, State::Cancelled];
    let said = kinds.map(|kind| {
        match all.iter().filter(|state| state.is(|state| *state == kind)).count() {
            0 => String::new(),
            count => format!(", {count} {kind}"),
        }
    });
    said.concat()
}

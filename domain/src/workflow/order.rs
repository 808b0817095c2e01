//! Which nodes come first among those that wait for the same time: those with the longest path to the end.

use super::plan::Plan;
use crate::dependency::topological_order;
use std::time::Duration;

/// The places of the nodes, the one with the longest path to the end first; a parent before its children. A path is as long as the execution
/// caps of its nodes together, which is what is known of a node before it has run.
#[must_use]
pub fn longest_path_first(plan: &Plan) -> Vec<usize> {
    /// So that a parent's path is longer than its children's.
    const LEAST: Duration = Duration::from_millis(1);
    let edges: Vec<(usize, usize)> = plan
        .nodes
        .iter()
        .enumerate()
        .flat_map(|(child, node)| node.after.iter().map(move |after| (after.node, child)))
        .collect();
    let order = topological_order(plan.nodes.len(), &edges).unwrap_or_default();
    let mut longest = vec![Duration::ZERO; plan.nodes.len()];
    for &place in order.iter().rev() {
        let Some(node) = plan.nodes.get(place) else { continue };
        let own = if node.wait.is_some() { LEAST } else { node.task.execution_cap.max(LEAST) };
        let path = own.saturating_add(longest.get(place).copied().unwrap_or_default());
        if let Some(longest) = longest.get_mut(place) {
            *longest = path;
        }
        for after in &node.after {
            if let Some(parent) = longest.get_mut(after.node) {
                *parent = (*parent).max(path);
            }
        }
    }
    let mut places: Vec<usize> = order;
    places.sort_by_key(|place| std::cmp::Reverse(longest.get(*place).copied()));
    places
}

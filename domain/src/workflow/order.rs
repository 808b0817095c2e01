//! Which nodes come first among those that wait for the same time: those with the longest path to the end.

use super::plan::Plan;
use crate::dependency::topological_order;
use std::time::Duration;

/// The places of the nodes, the one with the longest path to the end first; a parent before its children. The length of a path is the sum of the execution
/// caps of its nodes, which is what is known of a node before it has run.
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

#[cfg(test)]
mod tests {
    use super::super::plan::{After, Node};
    use super::*;
    use crate::dependency::{Condition, Join};

    #[test]
    fn the_longest_path_comes_first_and_a_parent_before_its_children() {
        // 0 -> 1 -> 3 is 60 + 1 + 10 s, 0 -> 2 -> 3 is 60 + 300 + 10 s; 4 is alone, with 65 s.
        let node = |name: &str, cap: u64, after: &[usize]| Node {
            after: after
                .iter()
                .map(|node| After { node: *node, on: Condition::Succeeded })
                .collect(),
            ..Node::noop(name, Duration::from_secs(cap), Join::All)
        };
        let nodes = vec![
            node("a", 60, &[]),
            node("b", 1, &[0]),
            node("c", 300, &[0]),
            node("d", 10, &[1, 2]),
            node("e", 65, &[]),
        ];
        let plan = Plan { nodes, deadline: None, max_parallel: None, labels: Default::default() };
        assert_eq!(longest_path_first(&plan), [0, 2, 4, 1, 3]);
    }
}

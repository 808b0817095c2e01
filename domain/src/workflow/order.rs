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

/// The place of the node whose task bears the price of the fire that starts a run: of those that run something themselves, before others the
/// one without a condition on the longest path. `None`: all wait, or run what a list says.
#[must_use]
pub fn bears_fire(plan: &Plan) -> Option<usize> {
    let order = longest_path_first(plan);
    let nodes = order.into_iter().filter_map(|place| Some((place, plan.nodes.get(place)?)));
    let running = nodes.filter(|(_, node)| node.wait.is_none() && node.items.is_none());
    // Of equal ones the first.
    running.min_by_key(|(_, node)| node.test.is_some()).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::super::compare::{Comparison, Test};
    use super::super::plan::{After, Items, Node, Wait, WaitFor};
    use super::super::value::Source;
    use super::*;
    use crate::dependency::{Condition, Join};
    use serde_json::json;

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

    #[test]
    fn the_first_node_that_runs_something_without_a_condition_bears_the_fire() {
        let node = |name: &str, cap: u64| Node::noop(name, Duration::from_secs(cap), Join::All);
        let of = |nodes: Vec<Node>| {
            let plan =
                Plan { nodes, deadline: None, max_parallel: None, labels: Default::default() };
            bears_fire(&plan)
        };
        let wait = Wait { until: WaitFor::Time, expires: None };
        let waits = |name: &str| Node { wait: Some(wait.clone()), ..node(name, 900) };
        let list = Items(Source::Given(json!([])));
        let listed = |name: &str| Node { items: Some(list.clone()), ..node(name, 900) };
        assert_eq!(of(vec![waits("a"), listed("b"), node("c", 10), node("d", 20)]), Some(3));
        let test = Test { of: Source::Given(json!(1)), is: Comparison::Exists(true) };
        let tested = |name: &str| Node { test: Some(test.clone()), ..node(name, 900) };
        assert_eq!(of(vec![tested("a"), node("b", 1)]), Some(1));
        assert_eq!(of(vec![tested("a"), waits("b")]), Some(0));
        assert_eq!(of(vec![waits("a"), listed("b")]), None);
    }
}

//! The critical path of a run: the chain of nodes that decided when it ended, or what it waits for now.
//!
//! It is walked back from the node that ended last, or that has run for the longest, to the parent whose end let each node begin.

use api_types::GraphNode;
use chrono::TimeDelta;
use domain::time::Timestamp;
use std::collections::HashMap;

/// A node of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub name: String,
    /// From the end of the node before it, or the start of the run, to its first attempt.
    pub waited: Option<TimeDelta>,
    /// From its first attempt to its end, or until now.
    pub ran: Option<TimeDelta>,
    /// Whether it has not ended.
    pub is_open: bool,
    /// Its result is of the run before.
    pub taken_over: bool,
    /// Whether it waits for its items instead of running.
    pub has_items: bool,
}

/// The path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Path {
    pub steps: Vec<Step>,
    /// From the start of the run to the end of the last, or until now.
    pub took: TimeDelta,
}

impl Path {
    /// Of the nodes of a run that was started at `since`.
    pub(super) fn of(nodes: &[GraphNode], since: Timestamp, now: Timestamp) -> Self {
        let by_name: HashMap<&str, &GraphNode> =
            nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        let Some(last) = last(nodes, &by_name) else { return Self::default() };
        let mut chain = vec![last];
        // No circle is longer than there are nodes.
        while chain.len() <= nodes.len()
            && let Some(node) = chain.last().copied()
            && !node.taken_over
            && let Some(before) = before(node, &by_name)
        {
            chain.push(before);
        }
        chain.reverse();
        let mut free = since;
        let mut steps = Vec::new();
        for node in chain {
            let end = node.finished_at.unwrap_or(now);
            let started = node.started_at.filter(|_| !node.taken_over);
            steps.push(Step {
                name: node.name.clone(),
                waited: (!node.taken_over).then(|| started.unwrap_or(end) - free),
                ran: started.map(|started| end - started),
                is_open: node.finished_at.is_none(),
                taken_over: node.taken_over,
                has_items: node.items.is_some(),
            });
            if !node.taken_over {
                free = end;
            }
        }
        Self { steps, took: free - since }
    }

    /// Whether a node is on it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.steps.iter().any(|step| step.name == name)
    }

    /// Whether an edge is on it.
    pub(super) fn has_edge(&self, from: &str, to: &str) -> bool {
        self.steps.windows(2).any(|pair| matches!(pair, [a, b] if a.name == from && b.name == to))
    }
}

/// The node to which the path leads: of those that can go on the one that began first, else the one that ended last.
fn last<'a>(
    nodes: &'a [GraphNode],
    by_name: &HashMap<&str, &'a GraphNode>,
) -> Option<&'a GraphNode> {
    let has_turn = |node: &&GraphNode| {
        let parents = node.after.iter().filter_map(|parent| by_name.get(parent.node.as_str()));
        let is_free = parents.clone().count() == 0
            || parents.clone().all(|parent| parent.finished_at.is_some());
        node.finished_at.is_none() && node.state.is_some() && (node.started_at.is_some() || is_free)
    };
    let began = |node: &&GraphNode| {
        let free = node.after.iter().filter_map(|parent| by_name.get(parent.node.as_str()));
        node.started_at.or_else(|| free.filter_map(|parent| parent.finished_at).max())
    };
    let open = nodes.iter().filter(has_turn).min_by_key(began);
    // What was skipped decided nothing unless everything was.
    let ran = |node: &&GraphNode| node.started_at.is_some() || node.waits_for.is_some();
    let ended = |node: &&GraphNode| node.finished_at.is_some() && !node.taken_over;
    open.or_else(|| nodes.iter().filter(ended).filter(ran).max_by_key(|node| node.finished_at))
        .or_else(|| nodes.iter().filter(ended).max_by_key(|node| node.finished_at))
}

/// The parent that let it begin: the last to end before its start, where it has one.
fn before<'a>(node: &GraphNode, by_name: &HashMap<&str, &'a GraphNode>) -> Option<&'a GraphNode> {
    let start = node.started_at.or(node.finished_at);
    let parents = node.after.iter().filter_map(|parent| by_name.get(parent.node.as_str()).copied());
    let ended = parents.filter(|parent| parent.finished_at.is_some());
    let in_time = |parent: &&GraphNode| start.is_none_or(|start| parent.finished_at <= Some(start));
    ended
        .clone()
        .filter(in_time)
        .max_by_key(|parent| parent.finished_at)
        .or_else(|| ended.min_by_key(|parent| parent.finished_at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_timestamp(1_900_000_000 + second, 0).unwrap()
    }

    fn node(name: &str, after: &[&str], started: Option<i64>, finished: Option<i64>) -> GraphNode {
        let after: Vec<_> =
            after.iter().map(|node| json!({"node": node, "on": "succeeded"})).collect();
        serde_json::from_value(json!({
            "name": name, "task": domain::id::TaskId::fresh(), "state": "running", "layer": 0, "after": after, "join": null,
            "waits_for": null, "items": null, "taken_over": false, "attempts": 1, "started_at": started.map(at),
            "finished_at": finished.map(at), "reason": null
        }))
        .unwrap()
    }

    fn names(path: &Path) -> Vec<&str> {
        path.steps.iter().map(|step| step.name.as_str()).collect()
    }

    #[test]
    fn the_path_of_a_run_that_ended_goes_through_the_parents_that_ended_last() {
        let nodes = [
            node("a", &[], Some(1), Some(2)),
            node("b", &[], Some(1), Some(9)),
            node("c", &["a", "b"], Some(10), Some(14)),
            node("skipped", &["c"], None, Some(14)),
        ];
        let path = Path::of(&nodes, at(0), at(100));
        assert_eq!(names(&path), ["b", "c"]);
        let seconds =
            |step: &Step| (step.waited.unwrap().num_seconds(), step.ran.unwrap().num_seconds());
        assert_eq!((seconds(&path.steps[0]), seconds(&path.steps[1])), ((1, 8), (1, 4)));
        assert_eq!(path.took.num_seconds(), 14);
        assert!(path.has_edge("b", "c") && !path.has_edge("a", "c") && !path.has("a"));
    }

    #[test]
    fn of_a_run_that_goes_on_it_ends_at_what_is_waited_for() {
        let nodes = [
            node("a", &[], Some(0), Some(2)),
            node("slow", &["a"], Some(3), None),
            node("late", &["a"], Some(8), None),
            node("later", &["slow"], None, None),
        ];
        let path = Path::of(&nodes, at(0), at(10));
        assert_eq!((names(&path), path.steps[1].is_open), (vec!["a", "slow"], true));
        assert_eq!(path.steps[1].ran.unwrap().num_seconds(), 7);
    }

    #[test]
    fn what_was_taken_over_costs_no_time_and_a_circle_ends() {
        let mut old = node("a", &["b"], Some(-500), Some(-400));
        old.taken_over = true;
        let path = Path::of(&[old, node("b", &["a"], Some(1), Some(3))], at(0), at(9));
        assert_eq!(
            (names(&path), path.steps[0].waited, path.took.num_seconds()),
            (vec!["a", "b"], None, 3)
        );
        let circle = [node("a", &["b"], Some(1), Some(2)), node("b", &["a"], Some(1), Some(2))];
        assert!(Path::of(&circle, at(0), at(9)).steps.len() <= 3);
        assert_eq!(Path::of(&[], at(0), at(9)), Path::default());
    }
}

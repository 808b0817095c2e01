//! The order of a graph: parents first.

use petgraph::algo::{tarjan_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};

/// Nodes that wait for one another in a circle: each for the next, and the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle(pub Vec<usize>);

/// Nodes 0 to `nodes` - 1 in an order in which each comes after its parents; `edges` are pairs of a parent and its child.
///
/// # Errors
/// A circle, where there is one. Each of its nodes waits for the next one.
pub fn topological_order(nodes: usize, edges: &[(usize, usize)]) -> Result<Vec<usize>, Circle> {
    let mut graph = DiGraph::<(), ()>::with_capacity(nodes, edges.len());
    for _ in 0..nodes {
        graph.add_node(());
    }
    for (parent, child) in edges {
        graph.add_edge(NodeIndex::new(*parent), NodeIndex::new(*child), ());
    }
    match toposort(&graph, None) {
        Ok(order) => Ok(order.into_iter().map(NodeIndex::index).collect()),
        Err(_) => Err(circle(&graph)),
    }
}

/// Walks from parent to parent inside one strongly connected part until a node comes again.
fn circle(graph: &DiGraph<(), ()>) -> Circle {
    let is_circle = |part: &Vec<NodeIndex>| {
        part.len() > 1 || part.first().is_some_and(|node| graph.contains_edge(*node, *node))
    };
    let part = tarjan_scc(graph).into_iter().find(is_circle).unwrap_or_default();
    let mut walk: Vec<NodeIndex> = Vec::new();
    let mut at = part.iter().min().copied();
    while let Some(node) = at {
        if let Some(first) = walk.iter().position(|seen| *seen == node) {
            walk.drain(..first);
            break;
        }
        walk.push(node);
        let mut parents = graph.neighbors_directed(node, petgraph::Direction::Incoming);
        at = parents.find(|parent| part.contains(parent));
    }
    Circle(walk.into_iter().map(NodeIndex::index).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_circle_is_named_in_its_order() {
        // 3 waits for 1, 1 for 2, 2 for 3.
        let circle = topological_order(5, &[(0, 1), (1, 3), (2, 1), (3, 2), (3, 4)]).unwrap_err();
        assert_eq!(circle, Circle(vec![1, 2, 3]));
        assert_eq!(topological_order(2, &[(1, 1)]), Err(Circle(vec![1])));
    }

    proptest! {
        #[test]
        fn parents_come_first(nodes in 1usize..40, pairs in prop::collection::vec((0usize..40, 0usize..40), 0..120)) {
            let edges: Vec<_> = pairs
                .into_iter()
                .map(|(a, b)| (a % nodes, b % nodes))
                .filter(|(a, b)| a < b)
                .map(|(a, b)| (nodes - 1 - a, nodes - 1 - b))
                .collect();
            let order = topological_order(nodes, &edges).unwrap();
            let mut place = vec![0; nodes];
            order.iter().enumerate().for_each(|(at, node)| place[*node] = at);
            prop_assert_eq!(order.len(), nodes);
            for (parent, child) in edges {
                prop_assert!(place[parent] < place[child]);
            }
        }

        #[test]
        fn each_node_of_a_circle_waits_for_the_next(nodes in 1usize..20, pairs in prop::collection::vec((0usize..20, 0usize..20), 0..60)) {
            let edges: Vec<_> = pairs.into_iter().map(|(a, b)| (a % nodes, b % nodes)).collect();
            if let Err(Circle(circle)) = topological_order(nodes, &edges) {
                prop_assert!(!circle.is_empty());
                for (at, node) in circle.iter().enumerate() {
                    let next = circle[(at + 1) % circle.len()];
                    prop_assert!(edges.contains(&(next, *node)), "{:?}", circle);
                }
            }
        }
    }
}

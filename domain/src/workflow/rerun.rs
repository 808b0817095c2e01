//! Which nodes of a run are run again.

use super::plan::Plan;
use crate::task::State;

/// What is run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redo {
    /// Each node that did not succeed, and everything below it.
    Failed,
    /// These.
    Nodes(Vec<String>),
    /// These, and everything below them.
    Below(Vec<String>),
}

/// A name that is no node's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a node of this run")]
pub struct UnknownNode(pub String);

impl Redo {
    /// Whether each node of `plan` is run again; `states` are the states they are in.
    ///
    /// # Errors
    /// The first name that is no node's.
    pub fn chosen(&self, plan: &Plan, states: &[State]) -> Result<Vec<bool>, UnknownNode> {
        let mut chosen = match self {
            // What was skipped is run again with the parent that it was skipped for; what its own `if` skipped stays.
            Self::Failed => states
                .iter()
                .map(|state| !matches!(state, State::Succeeded | State::Skipped))
                .collect(),
            Self::Nodes(names) | Self::Below(names) => {
                let mut chosen = vec![false; plan.nodes.len()];
                for name in names {
                    let place = plan.place(name).ok_or_else(|| UnknownNode(name.clone()))?;
                    if let Some(node) = chosen.get_mut(place) {
                        *node = true;
                    }
                }
                chosen
            }
        };
        if !matches!(self, Self::Nodes(_)) {
            below(plan, &mut chosen);
        }
        Ok(chosen)
    }
}

/// Adds what comes after what is chosen.
fn below(plan: &Plan, chosen: &mut [bool]) {
    let mut children = vec![Vec::new(); plan.nodes.len()];
    for (child, node) in plan.nodes.iter().enumerate() {
        for after in &node.after {
            if let Some(of) = children.get_mut(after.node) {
                of.push(child);
            }
        }
    }
    let is_chosen = |(place, chosen): (usize, &bool)| chosen.then_some(place);
    let mut front: Vec<usize> = chosen.iter().enumerate().filter_map(is_chosen).collect();
    while let Some(place) = front.pop() {
        for &child in children.get(place).into_iter().flatten() {
            if let Some(seen) = chosen.get_mut(child).filter(|seen| !**seen) {
                *seen = true;
                front.push(child);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{After, Node};
    use super::*;
    use crate::dependency::{Condition, Join};
    use std::time::Duration;

    #[test]
    fn what_failed_or_is_named_is_run_again_with_what_is_below_it() {
        // a -> b -> d, a -> c -> d, e.
        let node = |name: &str, after: &[usize]| Node {
            after: after
                .iter()
                .map(|node| After { node: *node, on: Condition::Succeeded })
                .collect(),
            ..Node::noop(name, Duration::from_secs(1), Join::All)
        };
        let nodes = vec![
            node("a", &[]),
            node("b", &[0]),
            node("c", &[0]),
            node("d", &[1, 2]),
            node("e", &[]),
        ];
        let plan = Plan { nodes, deadline: None, max_parallel: None, labels: Default::default() };
        use State as S;
        let states = [S::Succeeded, S::Failed, S::Succeeded, S::Skipped, S::Succeeded];
        let chosen = |redo: Redo| redo.chosen(&plan, &states).unwrap();
        assert_eq!(chosen(Redo::Failed), [false, true, false, true, false]);
        assert_eq!(chosen(Redo::Nodes(vec!["c".to_owned()])), [false, false, true, false, false]);
        assert_eq!(chosen(Redo::Below(vec!["a".to_owned()])), [true, true, true, true, false]);
        let unknown = Redo::Nodes(vec!["f".to_owned()]).chosen(&plan, &states);
        assert_eq!(unknown, Err(UnknownNode("f".to_owned())));
        let good = [S::Succeeded; 5];
        assert_eq!(Redo::Failed.chosen(&plan, &good).unwrap(), [false; 5]);
    }
}

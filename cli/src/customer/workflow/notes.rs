//! What there is to say of a node: how many of its items have ended, what it waits for, the reason of its end.
//!
//! A reason names tasks; a person knows the nodes.

use client::{Extensible, GraphNode, WorkflowGraph};
use domain::task::State;
use std::collections::HashMap;

const PREFIX: &str = "task_";
/// Characters of an id.
const ID_LENGTH: usize = PREFIX.len() + 32;

/// The nodes of a graph by their tasks.
pub(super) struct Notes<'g> {
    nodes: HashMap<String, &'g str>,
}

impl<'g> Notes<'g> {
    /// For the nodes of `graph`.
    pub fn new(graph: &'g WorkflowGraph) -> Self {
        let nodes = graph.nodes.iter().map(|node| (node.task.to_string(), node.name.as_str()));
        Self { nodes: nodes.collect() }
    }

    /// What there is to say of `node`.
    pub fn note(&self, node: &GraphNode) -> String {
        let items = node.items.as_ref().map(|items| {
            let ended = items.iter().filter(|item| has_ended(item.state.as_ref())).count();
            format!("{ended}/{}", items.len())
        });
        let wait = node.waits_for.as_ref().map(|wait| match &wait.signal {
            Some(key) => format!("waits for signal {key}"),
            None => "waits for approval".to_owned(),
        });
        let reason = node.reason.as_deref().map(|reason| self.named(reason));
        let taken_over = node.taken_over.then(|| "of the earlier run".to_owned());
        let said = [items, wait, taken_over, reason];
        said.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// `text` with names of nodes in place of the ids of their tasks.
    fn named(&self, text: &str) -> String {
        let mut named = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(PREFIX) {
            let (before, from) = rest.split_at(at);
            named.push_str(before);
            let node = from.get(..ID_LENGTH).and_then(|id| self.nodes.get(id));
            let length = if node.is_some() { ID_LENGTH } else { PREFIX.len() };
            let (id, after) = from.split_at(length);
            named.push_str(node.unwrap_or(&id));
            rest = after;
        }
        named.push_str(rest);
        named
    }
}

fn has_ended(state: Option<&Extensible<State>>) -> bool {
    // What is in no history any more has ended long ago.
    state.is_none_or(|state| state.known().is_some_and(|state| state.is_terminal()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_nodes_and_not_their_tasks() {
        let id = "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
        let notes = Notes { nodes: HashMap::from([(id.to_owned(), "load")]) };
        for (reason, named) in [
            (format!("its parent `{id}` ended failed"), "its parent `load` ended failed"),
            (format!("{id}, {id}"), "load, load"),
            ("task_ of task_1 é".to_owned(), "task_ of task_1 é"),
            ("exit code 3".to_owned(), "exit code 3"),
        ] {
            assert_eq!(notes.named(&reason), named);
        }
    }
}

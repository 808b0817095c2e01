//! How many tasks run for each node of a run, at most.

use super::{Items, Plan, Source};
use serde_json::Value;

/// How many tasks run for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeTasks {
    /// So many, where its conditions hold.
    Known(u64),
    /// What another node returns says how many: so many together with all other such nodes.
    UpTo(u64),
}

impl Plan {
    /// How many tasks run for each node of a run that may have `most` tasks, where all conditions hold. A node that waits runs nothing, and
    /// the node of a `for_each` runs nothing itself.
    #[must_use]
    pub fn most_tasks(&self, most: u64) -> Vec<NodeTasks> {
        // A node is a task of the run, also where it runs nothing.
        let room = most.saturating_sub(self.nodes.len() as u64);
        let known = |items: &Items<usize>| match &items.0 {
            // More than the run may have make the node fail, and so does what is no list.
            Source::Given(Value::Array(list)) => {
                Some(Some(list.len() as u64).filter(|items| *items <= room).unwrap_or(0))
            }
            Source::Given(_) => Some(0),
            Source::Input(_) | Source::Node(..) | Source::Item(_) => None,
        };
        let counts: Vec<_> = self
            .nodes
            .iter()
            .map(|node| match &node.items {
                _ if node.wait.is_some() => Some(0),
                Some(items) => known(items),
                None => Some(1),
            })
            .collect();
        let items = self.nodes.iter().zip(&counts).filter(|(node, _)| node.items.is_some());
        let known: u64 = items.filter_map(|(_, count)| *count).sum();
        let left = NodeTasks::UpTo(room.saturating_sub(known));
        counts.into_iter().map(|count| count.map_or(left, NodeTasks::Known)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Node, Wait, WaitFor};
    use super::*;
    use crate::dependency::Join;
    use crate::resources::Tier;
    use crate::schedule::TaskTemplate;
    use crate::task::{Delivery, NoopRun, Run};
    use serde_json::json;
    use std::time::Duration;

    fn node(items: Option<Source<usize>>) -> Node {
        let task = TaskTemplate {
            name: None,
            pool: crate::id::PoolName::default(),
            tier: Some(Tier::Basic),
            resources: Tier::Basic.resources(),
            run: Run::Noop(NoopRun { sleep: Duration::ZERO }),
            delay_tolerance: Duration::ZERO,
            execution_cap: Duration::from_secs(60),
            expire_if_late: false,
            priority: crate::batch::Priority::default(),
            flexible: false,
            concurrency_key: None,
            max_attempts: 1,
            retry: None,
            delivery: Delivery::AtLeastOnce,
            unique_key: None,
            labels: std::collections::BTreeMap::new(),
        };
        Node {
            name: "n".to_owned(),
            task,
            delay: None,
            after: Vec::new(),
            join: Join::All,
            test: None,
            items: items.map(Items),
            holes: Vec::new(),
            wait: None,
        }
    }

    #[test]
    fn each_node_runs_once_and_items_as_many_as_there_are_or_may_be() {
        let given = |value: Value| node(Some(Source::Given(value)));
        let wait =
            Node { wait: Some(Wait { until: WaitFor::Approval, expires: None }), ..node(None) };
        let read = node(Some(Source::Node(0, String::new())));
        let nodes =
            vec![node(None), given(json!([1, 2, 3])), given(json!({})), wait, read.clone(), read];
        let plan = Plan { nodes, deadline: None, max_parallel: None, labels: Default::default() };
        use NodeTasks::{Known, UpTo};
        // Of 20 the 6 nodes and the 3 items are some already.
        assert_eq!(
            plan.most_tasks(20),
            [Known(1), Known(3), Known(0), Known(0), UpTo(11), UpTo(11)]
        );
        assert_eq!(plan.most_tasks(7), [Known(1), Known(0), Known(0), Known(0), UpTo(1), UpTo(1)]);
        assert_eq!(plan.most_tasks(0)[5], UpTo(0));
    }
}

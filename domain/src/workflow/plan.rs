//! A definition without mistakes: its nodes as templates of tasks, and what flows between them.

use super::compare::Test;
use super::fill::fill;
use super::value::{Source, at_pointer};
use crate::dependency::{Condition, Join};
use crate::schedule::TaskTemplate;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// A workflow. Its nodes are in the order of the definition, and named by their places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// How long a run may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Duration>,
    /// Tasks of a run that run at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_parallel: Option<u32>,
    /// Labels of its runs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its name, unique in its workflow.
    pub name: String,
    /// Its task. That of a node that waits runs nothing.
    pub task: TaskTemplate,
    /// From its release to its due time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Its parents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<After>,
    /// How many of them must end as asked.
    #[serde(default)]
    pub join: Join,
    /// `if`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Test<usize>>,
    /// `for_each`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Items<usize>>,
    /// Where values come into what it runs.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub holes: Vec<Hole<usize>>,
    /// `wait`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait<usize>>,
}

/// A parent of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// Its place.
    pub node: usize,
    /// How it must end.
    pub on: Condition,
}

/// The list of a `for_each`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Items<N>(pub Source<N>);

/// A place in what a node runs that a value comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hole<N> {
    /// JSON pointer into the run, such as `/command/env/A`.
    pub at: String,
    /// The value.
    pub from: Source<N>,
}

/// What a node waits for that runs nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wait<N> {
    /// For what.
    pub until: WaitFor<N>,
    /// For that long at most; then it ends as `expired`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Duration>,
}

/// For what a node waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitFor<N> {
    /// A signal with this key.
    Signal(Source<N>),
    /// A person.
    Approval,
    /// Its delay.
    Time,
}

impl<N> Items<N> {
    pub(super) fn map<M>(&self, name: impl Fn(&N) -> M) -> Items<M> {
        Items(self.0.map(name))
    }
}

impl<N> Hole<N> {
    pub(super) fn map<M>(&self, name: impl Fn(&N) -> M) -> Hole<M> {
        Hole { at: self.at.clone(), from: self.from.map(name) }
    }
}

impl<N> Wait<N> {
    pub(super) fn map<M>(&self, name: impl Fn(&N) -> M) -> Wait<M> {
        let until = match &self.until {
            WaitFor::Signal(key) => WaitFor::Signal(key.map(name)),
            WaitFor::Approval => WaitFor::Approval,
            WaitFor::Time => WaitFor::Time,
        };
        Wait { until, expires: self.expires }
    }
}

/// An input that a workflow cannot be run with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("node `{node}`: {why}")]
pub struct InputProblem {
    /// The node that reads it.
    pub node: String,
    /// JSON pointer into the input.
    pub pointer: String,
    /// What is wrong.
    pub why: String,
}

impl Plan {
    /// Puts `input` wherever nodes read it. What they read of other nodes stays.
    ///
    /// # Errors
    /// What the nodes read that is not there, or that cannot stand where it is wanted; one for each node at most.
    pub fn with_input(mut self, input: &Value) -> Result<Self, Vec<InputProblem>> {
        let problems: Vec<InputProblem> =
            self.nodes.iter_mut().filter_map(|node| node.put_input(input).err()).collect();
        if problems.is_empty() { Ok(self) } else { Err(problems) }
    }

    /// The place of a node.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }
}

impl Node {
    /// The places of the nodes that it reads; some more than once.
    pub fn reads(&self) -> impl Iterator<Item = usize> {
        let signal = self.wait.as_ref().and_then(|wait| match &wait.until {
            WaitFor::Signal(key) => Some(key),
            WaitFor::Approval | WaitFor::Time => None,
        });
        let items = self.items.as_ref().map(|Items(source)| source);
        let sources =
            self.test.as_ref().map(|test| &test.of).into_iter().chain(items).chain(signal);
        let sources = sources.chain(self.holes.iter().map(|hole| &hole.from));
        sources.filter_map(Source::node).copied()
    }

    fn put_input(&mut self, input: &Value) -> Result<(), InputProblem> {
        let name = self.name.clone();
        let problem = |pointer: &str, why: String| InputProblem {
            node: name.clone(),
            pointer: pointer.to_owned(),
            why,
        };
        let signal = self.wait.as_mut().and_then(|wait| match &mut wait.until {
            WaitFor::Signal(key) => Some(key),
            WaitFor::Approval | WaitFor::Time => None,
        });
        let items = self.items.as_mut().map(|Items(source)| source);
        let holes = self.holes.iter_mut().map(|hole| &mut hole.from);
        for source in items.into_iter().chain(signal).chain(holes) {
            let Source::Input(pointer) = source else { continue };
            let missing = || problem(pointer, format!("the input has no value at `{pointer}`"));
            *source = Source::Given(at_pointer(input, pointer).ok_or_else(missing)?);
        }
        if let Some(Test { of, .. }) = &mut self.test
            && let Source::Input(pointer) = of
        {
            // What the input does not have is missing when the test is made.
            if let Some(value) = at_pointer(input, pointer) {
                *of = Source::Given(value);
            }
        }
        let is_given = |hole: &Hole<usize>| matches!(hole.from, Source::Given(_));
        let given: Vec<_> = self.holes.extract_if(.., |hole| is_given(hole)).collect();
        let values: Vec<(&str, &Value)> = given
            .iter()
            .filter_map(|hole| match &hole.from {
                Source::Given(value) => Some((hole.at.as_str(), value)),
                Source::Input(_) | Source::Node(..) | Source::Item(_) => None,
            })
            .collect();
        if !values.is_empty() {
            self.task.run =
                fill(&self.task.run, &values).map_err(|why| problem("", why.to_string()))?;
        }
        Ok(())
    }
}

/// Whether `text` can name a node: 1 to 64 of `a-z A-Z 0-9 _ -`, the first a letter or a digit.
#[must_use]
pub fn is_node_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    (1..=64).contains(&text.len())
        && text.bytes().all(plain)
        && text.as_bytes()[0].is_ascii_alphanumeric()
}

#[cfg(test)]
impl Node {
    /// A node that does nothing.
    pub(super) fn noop(name: &str, cap: Duration, join: Join) -> Self {
        let task = serde_json::json!({"pool": "default", "resources": crate::resources::Tier::Basic.resources(),
            "run": {"noop": {}}, "delay_tolerance": "0s", "execution_cap": crate::time::format_duration(cap), "expire_if_late": false,
            "priority": 0, "flexible": false, "max_attempts": 1, "delivery": "at_least_once"});
        let task = serde_json::from_value(task).unwrap();
        let name = name.to_owned();
        Self {
            name,
            task,
            delay: None,
            after: vec![],
            join,
            test: None,
            items: None,
            holes: vec![],
            wait: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::Comparison;
    use super::*;
    use crate::task::Run;
    use serde_json::json;

    #[test]
    fn an_input_is_put_in_wherever_it_is_read() {
        let input = json!({"n": 3, "list": [1, 2], "key": "k"});
        let at = |pointer: &str| Source::Input(pointer.to_owned());
        let run = |env: &str| -> Run {
            serde_json::from_value(json!({"command": {"argv": ["x"], "env": {"A": env}}})).unwrap()
        };
        let mut node = Node::noop("a", Duration::from_secs(1), Join::All);
        node.task.run = run("");
        node.holes = vec![
            Hole { at: "/command/env/A".to_owned(), from: at("/n") },
            Hole { at: "/command/argv/0".to_owned(), from: Source::Node(0, "/x".to_owned()) },
        ];
        node.items = Some(Items(at("/list")));
        node.test = Some(Test { of: at("/none"), is: Comparison::Exists(false) });
        node.wait = Some(Wait { until: WaitFor::Signal(at("/key")), expires: None });
        let plan = |node: Node| Plan {
            nodes: vec![node],
            deadline: None,
            max_parallel: None,
            labels: BTreeMap::new(),
        };
        let with = plan(node.clone()).with_input(&input).unwrap();
        let put = &with.nodes[0];
        assert_eq!(put.task.run, run("3"));
        assert_eq!(put.holes.len(), 1, "what it reads of nodes stays");
        assert_eq!(put.items, Some(Items(Source::Given(json!([1, 2])))));
        assert_eq!(
            put.test.as_ref().map(|test| &test.of),
            Some(&at("/none")),
            "it is missing when it is tested"
        );
        assert_eq!(
            put.wait.as_ref().map(|wait| &wait.until),
            Some(&WaitFor::Signal(Source::Given(json!("k"))))
        );
        assert_eq!(plan(node.clone()).with_input(&input).unwrap(), with);

        node.items = Some(Items(at("/no")));
        let problem = plan(node.clone()).with_input(&input).unwrap_err();
        assert_eq!((problem[0].node.as_str(), problem[0].pointer.as_str()), ("a", "/no"));
        (node.items, node.wait) = (None, None);
        node.holes = vec![Hole { at: "/command/argv/0".to_owned(), from: at("/empty") }];
        let problem = plan(node).with_input(&json!({"empty": ""})).unwrap_err();
        assert!(problem[0].why.contains("must name a program"), "{problem:?}");
    }

    #[test]
    fn a_plan_reads_back_as_written() {
        let mut node = Node::noop("a", Duration::from_secs(1), Join::AtLeast(1));
        node.delay = Some(Duration::from_millis(1500));
        node.wait = Some(Wait { until: WaitFor::Approval, expires: Some(Duration::from_secs(9)) });
        let deadline = Some(Duration::from_secs(60));
        let plan =
            Plan { nodes: vec![node], deadline, max_parallel: Some(2), labels: BTreeMap::new() };
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    }

    #[test]
    fn a_name_is_plain() {
        for good in ["a", "0", "A-b_c", &"x".repeat(64)] {
            assert!(is_node_name(good), "{good}");
        }
        for bad in ["", "-a", "a b", "a.b", "a/b", "ä", "a[0]", &"x".repeat(65)] {
            assert!(!is_node_name(bad), "{bad}");
        }
    }
}

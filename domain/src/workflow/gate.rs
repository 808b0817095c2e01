//! What the task of a node waits for after its parents: its `if`, values of other nodes, its items, a signal, a person or a time.
//!
//! Stored with the task. A task with a gate stays `scheduled` when its parents release it, and the scheduler opens the gate: [`Gate::open`]
//! says what comes of it, from what the other nodes returned.

use super::compare::Test;
use super::fill::fill;
use super::plan::{Hole, Items, Wait, WaitFor};
use super::value::{Source, at_pointer, text_of};
use super::{MAX_SIGNAL_KEY, Node};
use crate::id::TaskId;
use crate::task::Run;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;

/// A node of the same run, and its task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentNode {
    /// Its name, for messages.
    pub node: String,
    /// Its task.
    pub task: TaskId,
}

/// The gate of a task. Each part is for one of the fields of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// `if`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Test<ParentNode>>,
    /// `for_each`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Items<ParentNode>>,
    /// `$from` and `$item` in what it runs.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub holes: Vec<Hole<ParentNode>>,
    /// `wait`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait<ParentNode>>,
}

/// What comes of a gate.
#[derive(Debug, Clone, PartialEq)]
pub enum Opening {
    /// It runs this.
    Run(Run),
    /// Its test does not hold: it is skipped.
    Skip(String),
    /// It fails before it runs.
    Fail(String),
    /// It becomes one task for each of these.
    Each(Vec<Run>),
    /// It waits until a signal or a person, for that long at most.
    Wait {
        /// Key of the signal; `None`: a person.
        signal: Option<String>,
        /// Then it ends as `expired`.
        expires: Option<Duration>,
    },
    /// Its time has come: it succeeds.
    TimeOver,
}

/// What all items of a node run, bytes of JSON: it is in the memory of a scheduler while they are stored.
pub const MAX_ITEMS_BYTES: usize = 64 * 1024 * 1024;

/// A value that is not there.
struct Missing(String);

impl Gate {
    /// The gate of `node`, where it has one; `task` gives the tasks of other nodes by their places.
    #[must_use]
    pub fn of(node: &Node, parent: impl Fn(usize) -> ParentNode) -> Option<Self> {
        let parent = |place: &usize| parent(*place);
        let gate = Self {
            test: node
                .test
                .as_ref()
                .map(|test| Test { of: test.of.map(parent), is: test.is.clone() }),
            items: node.items.as_ref().map(|items| items.map(parent)),
            holes: node.holes.iter().map(|hole| hole.map(parent)).collect(),
            wait: node.wait.as_ref().map(|wait| wait.map(parent)),
        };
        let is_none = gate.test.is_none()
            && gate.items.is_none()
            && gate.holes.is_empty()
            && gate.wait.is_none();
        (!is_none).then_some(gate)
    }

    /// The tasks whose results it reads; some more than once.
    pub fn reads(&self) -> impl Iterator<Item = TaskId> {
        let signal = self.wait.as_ref().and_then(|wait| match &wait.until {
            WaitFor::Signal(key) => Some(key),
            WaitFor::Approval | WaitFor::Time => None,
        });
        let items = self.items.as_ref().map(|Items(source)| source);
        let sources = self.test.as_ref().map(|test| &test.of);
        let sources = sources.into_iter().chain(items).chain(signal);
        let sources = sources.chain(self.holes.iter().map(|hole| &hole.from));
        sources.filter_map(Source::node).map(|parent| parent.task)
    }

    /// What comes of it, where the task runs `run`, may become `most_items` tasks, and others returned `results`.
    pub fn open<'a>(
        &self,
        run: &Run,
        most_items: usize,
        results: impl Fn(TaskId) -> Option<&'a Value>,
    ) -> Opening {
        let find = |source: &Source<ParentNode>, item: Option<&Value>| find(source, item, &results);
        if let Some(test) = &self.test {
            let value = find(&test.of, None).ok();
            if !test.is.holds(value.as_deref()) {
                let found = value.map_or_else(
                    || "is missing".to_owned(),
                    |value| format!("is {}", shortened(&value)),
                );
                return Opening::Skip(format!(
                    "its `if` does not hold: {} {found}",
                    named(&test.of)
                ));
            }
        }
        if let Some(wait) = &self.wait {
            return self.wait(wait, |source| find(source, None));
        }
        let filled = |item: Option<&Value>| -> Result<Run, String> {
            let values: Result<Vec<_>, Missing> = self
                .holes
                .iter()
                .map(|hole| Ok((hole.at.as_str(), find(&hole.from, item)?)))
                .collect();
            let values = values.map_err(|Missing(why)| why)?;
            let values: Vec<(&str, &Value)> =
                values.iter().map(|(at, value)| (*at, &**value)).collect();
            fill(run, &values).map_err(|problem| problem.to_string())
        };
        let Some(Items(source)) = &self.items else {
            return filled(None).map_or_else(Opening::Fail, Opening::Run);
        };
        let list = match find(source, None).as_deref() {
            Ok(Value::Array(list)) => list.clone(),
            Ok(_) => {
                return Opening::Fail(format!("{} is no list for its `for_each`", named(source)));
            }
            Err(Missing(why)) => return Opening::Fail(why.clone()),
        };
        if list.len() > most_items {
            let (items, of) = (list.len(), named(source));
            return Opening::Fail(format!(
                "{of} has {items} items; this run may have {most_items} tasks more"
            ));
        }
        let (mut runs, mut bytes) = (Vec::with_capacity(list.len()), 0);
        for (place, item) in list.iter().enumerate() {
            let run = match filled(Some(item)) {
                Ok(run) => run,
                Err(why) => return Opening::Fail(format!("item {place}: {why}")),
            };
            bytes += run.to_json().len();
            if bytes > MAX_ITEMS_BYTES {
                return Opening::Fail(format!(
                    "what its items run has more than {MAX_ITEMS_BYTES} bytes together"
                ));
            }
            runs.push(run);
        }
        Opening::Each(runs)
    }

    /// How many tasks start when it opens, where others returned `results`: one, or one for each item; none where it does something else.
    pub fn starts<'a>(&self, results: impl Fn(TaskId) -> Option<&'a Value>) -> usize {
        let find = |source: &Source<ParentNode>| find(source, None, &results);
        let holds =
            self.test.as_ref().is_none_or(|test| test.is.holds(find(&test.of).ok().as_deref()));
        if !holds || self.wait.is_some() {
            return 0;
        }
        match self.items.as_ref().map(|Items(source)| find(source)) {
            None => 1,
            Some(Ok(list)) => list.as_array().map_or(0, Vec::len),
            Some(Err(_)) => 0,
        }
    }

    fn wait<'a>(
        &self,
        wait: &Wait<ParentNode>,
        find: impl Fn(&Source<ParentNode>) -> Result<Cow<'a, Value>, Missing>,
    ) -> Opening {
        let signal = match &wait.until {
            WaitFor::Time => return Opening::TimeOver,
            WaitFor::Approval => None,
            WaitFor::Signal(key) => match find(key) {
                Ok(value) => Some(text_of(&value)),
                Err(Missing(why)) => return Opening::Fail(why),
            },
        };
        match &signal {
            Some(key) if !is_signal_key(key) => Opening::Fail(format!(
                "`{}` is no key of a signal: it must have 1 to {MAX_SIGNAL_KEY} characters, without control characters",
                shortened(&Value::from(key.as_str()))
            )),
            _ => Opening::Wait { signal, expires: wait.expires },
        }
    }
}

/// Whether `key` can be the key of a signal.
#[must_use]
pub fn is_signal_key(key: &str) -> bool {
    let length = key.chars().count();
    (1..=MAX_SIGNAL_KEY).contains(&length)
        && !key.chars().any(char::is_control)
        && key != "."
        && key != ".."
}

fn find<'a>(
    source: &Source<ParentNode>,
    item: Option<&Value>,
    results: impl Fn(TaskId) -> Option<&'a Value>,
) -> Result<Cow<'a, Value>, Missing> {
    let found = match source {
        Source::Given(value) => Some(value.clone()),
        Source::Input(_) => None,
        Source::Node(parent, pointer) => {
            results(parent.task).and_then(|value| at_pointer(value, pointer))
        }
        Source::Item(pointer) => item.and_then(|item| at_pointer(item, pointer)),
    };
    found.map(Cow::Owned).ok_or_else(|| Missing(format!("{} is missing", named(source))))
}

/// A reference in words, such as ``the result of node `a` at `/b` ``.
fn named(source: &Source<ParentNode>) -> String {
    let at =
        |pointer: &str| if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") };
    match source {
        Source::Given(_) => "the given list or value".to_owned(),
        Source::Input(pointer) => format!("the input{}", at(pointer)),
        Source::Node(parent, pointer) => {
            format!("the result of node `{}`{}", parent.node, at(pointer))
        }
        Source::Item(pointer) => format!("the item{}", at(pointer)),
    }
}

fn shortened(value: &Value) -> String {
    const MOST: usize = 100;
    let text = text_of(value);
    if text.chars().count() <= MOST {
        return text;
    }
    text.chars().take(MOST).chain("…".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::compare::Comparison;
    use super::*;
    use crate::task::NoopRun;
    use serde_json::json;

    fn parent(name: &str) -> ParentNode {
        ParentNode { node: name.to_owned(), task: TaskId(uuid::Uuid::from_u128(1)) }
    }

    fn from(pointer: &str) -> Source<ParentNode> {
        Source::Node(parent("a"), pointer.to_owned())
    }

    fn noop() -> Run {
        Run::Noop(NoopRun { sleep: Duration::ZERO })
    }

    fn command(env: &str) -> Run {
        serde_json::from_value(json!({"command": {"argv": ["x"], "env": {"A": env}}})).unwrap()
    }

    const NONE: Gate = Gate { test: None, items: None, holes: Vec::new(), wait: None };

    fn hole(from: Source<ParentNode>) -> Hole<ParentNode> {
        Hole { at: "/command/env/A".to_owned(), from }
    }

    #[test]
    fn a_test_that_does_not_hold_skips_and_says_what_was_found() {
        let result = json!({"ok": false});
        let test = |pointer| Test { of: from(pointer), is: Comparison::Eq(json!(true)) };
        let open = |pointer| {
            Gate { test: Some(test(pointer)), ..NONE }.open(&noop(), 0, |_| Some(&result))
        };
        let skipped = |why: &str| {
            Opening::Skip(format!("its `if` does not hold: the result of node `a` {why}"))
        };
        assert_eq!(open("/ok"), skipped("at `/ok` is false"));
        assert_eq!(open("/no"), skipped("at `/no` is missing"));
        let holds =
            Gate { test: Some(Test { of: from("/ok"), is: Comparison::Exists(true) }), ..NONE };
        assert_eq!(holds.open(&noop(), 0, |_| Some(&result)), Opening::Run(noop()));
    }

    #[test]
    fn a_value_goes_in_and_a_missing_one_fails_by_its_name() {
        let result = json!({"n": 7});
        let gate = |pointer: &str| Gate { holes: vec![hole(from(pointer))], ..NONE };
        assert_eq!(gate("/n").open(&command(""), 0, |_| Some(&result)), Opening::Run(command("7")));
        let why = "the result of node `a` at `/m` is missing".to_owned();
        assert_eq!(gate("/m").open(&command(""), 0, |_| Some(&result)), Opening::Fail(why.clone()));
        assert_eq!(gate("/m").open(&command(""), 0, |_| None), Opening::Fail(why));
        assert_eq!(gate("/n").reads().collect::<Vec<_>>(), [parent("a").task]);
    }

    #[test]
    fn each_item_has_its_run_and_too_many_fail() {
        let result = json!([{"x": "p"}, {"x": "q"}]);
        let gate = Gate {
            items: Some(Items(from(""))),
            holes: vec![hole(Source::Item("/x".to_owned()))],
            ..NONE
        };
        let open = |most| gate.open(&command(""), most, |_| Some(&result));
        assert_eq!(open(2), Opening::Each(vec![command("p"), command("q")]));
        let why = "the result of node `a` has 2 items; this run may have 1 tasks more";
        assert_eq!(open(1), Opening::Fail(why.to_owned()));
        let (no_list, no_field) = (json!(1), json!([{"x": 1}, {}]));
        let why = "the result of node `a` is no list for its `for_each`";
        assert_eq!(gate.open(&command(""), 9, |_| Some(&no_list)), Opening::Fail(why.to_owned()));
        let why = "item 1: the item at `/x` is missing";
        assert_eq!(gate.open(&command(""), 9, |_| Some(&no_field)), Opening::Fail(why.to_owned()));
        let empty = json!([]);
        assert_eq!(gate.open(&command(""), 9, |_| Some(&empty)), Opening::Each(vec![]));
    }

    #[test]
    fn as_many_tasks_start_as_it_opens() {
        let result = json!({"ok": true, "list": [1, 2, 3]});
        let starts = |gate: Gate| gate.starts(|_| Some(&result));
        let test = |is| Some(Test { of: from("/ok"), is: Comparison::Eq(json!(is)) });
        let items = |pointer| Some(Items(from(pointer)));
        assert_eq!(starts(NONE), 1);
        assert_eq!(starts(Gate { test: test(true), items: items("/list"), ..NONE }), 3);
        assert_eq!(starts(Gate { test: test(false), items: items("/list"), ..NONE }), 0);
        assert_eq!(starts(Gate { items: items("/ok"), ..NONE }), 0);
        assert_eq!(starts(Gate { items: items("/no"), ..NONE }), 0);
        let wait = Some(Wait { until: WaitFor::Approval, expires: None });
        assert_eq!(starts(Gate { wait, ..NONE }), 0);
    }

    #[test]
    fn items_have_only_so_much_to_run_together() {
        let text = "x".repeat(900 * 1024);
        let run: Run = serde_json::from_value(
            json!({"command": {"argv": ["x"], "env": {"A": ""}, "stdin": text}}),
        )
        .unwrap();
        let gate = |items: usize| {
            let list = Source::Given((0..items).collect());
            let gate = Gate {
                items: Some(Items(list)),
                holes: vec![hole(Source::Item(String::new()))],
                ..NONE
            };
            gate.open(&run, 1000, |_| None)
        };
        assert!(matches!(gate(2), Opening::Each(runs) if runs.len() == 2));
        assert!(matches!(gate(100), Opening::Fail(why) if why.contains("67108864 bytes together")));
    }

    #[test]
    fn a_wait_names_its_signal_or_a_person_or_is_over() {
        let wait = |until| Gate { wait: Some(Wait { until, expires: None }), ..NONE };
        let result = json!({"key": "order-1", "bad": ""});
        let open = |gate: Gate| gate.open(&noop(), 0, |_| Some(&result));
        let waits = |signal: Option<&str>| Opening::Wait {
            signal: signal.map(str::to_owned),
            expires: None,
        };
        assert_eq!(open(wait(WaitFor::Signal(from("/key")))), waits(Some("order-1")));
        assert_eq!(open(wait(WaitFor::Approval)), waits(None));
        assert_eq!(open(wait(WaitFor::Time)), Opening::TimeOver);
        assert!(matches!(open(wait(WaitFor::Signal(from("/bad")))), Opening::Fail(_)));
    }
}

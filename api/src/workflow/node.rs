//! Checks one node.

use super::source::{Readable, pointer, short};
use crate::problem::Problem;
use crate::request::json;
use crate::schedule::template;
use crate::task::{Findings, Origin, Rules, duration};
use api_types::TaskWarning;
use api_types::request::{self as body, Given, NewNode, NewWait, NodeParent};
use domain::dependency::{Join, MAX_PARENTS};
use domain::schedule::TaskTemplate;
use domain::workflow::{After, Hole, Items, Node, Source, Wait, WaitFor, is_signal_key};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json as value};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Ten years.
const MAX_WAIT: Duration = Duration::from_secs(10 * 8760 * 3600);

/// What nodes are checked against.
pub(super) struct Nodes<'a> {
    pub places: &'a HashMap<&'a str, usize>,
    pub rules: &'a Rules<'a>,
    pub most_bytes: usize,
    pub origin: &'a Origin,
    pub has_max_parallel: bool,
}

/// Fields that a task in a workflow cannot have, and what to use instead.
const OTHERS: [(&str, &str); 5] = [
    ("depends_on", "is not allowed in a workflow; use `after` of the node"),
    ("join", "is not allowed in a workflow; use `join` of the node"),
    ("ref", "is not allowed in a workflow: nodes have names"),
    (
        "unique_key",
        "is not allowed in a workflow: the task that holds the key would be of another run",
    ),
    ("run_at", "is not allowed in a workflow; use `delay`, or a node with `wait`"),
];

impl Nodes<'_> {
    /// The fields that nodes have that do not give them.
    pub(super) fn defaults(
        &self,
        f: &mut Findings,
        given: Option<Value>,
    ) -> Result<Map<String, Value>, Problem> {
        let defaults = match given {
            None => return Ok(Map::new()),
            Some(Value::Object(fields)) => fields,
            Some(_) => {
                f.wrong("/defaults", "must be an object with fields of a task");
                return Ok(Map::new());
            }
        };
        let mut own = Findings::new(f.at("/defaults"));
        refuse_others(&mut own, "", &defaults);
        for field in ["run", "name", "delay"].iter().filter(|field| defaults.contains_key(**field))
        {
            own.wrong_entry("", field, "is not allowed in `defaults`");
        }
        if own.is_empty() {
            let mut whole = defaults.clone();
            whole.insert("run".to_owned(), value!({"noop": {}}));
            let text = serde_json::to_vec(&Value::Object(whole)).unwrap_or_default();
            let at = own.at("");
            let checked = json::parse_at::<body::NewTask>(&text, &at)
                .and_then(|spec| self.rules.check(spec, at, self.origin.clone()));
            if let Err(problem) = checked {
                own.note(problem)?;
            }
        }
        // Said once is enough: nodes are checked without what is wrong here.
        let defaults = if own.is_empty() { defaults } else { Map::new() };
        f.join(own);
        Ok(defaults)
    }

    /// The node `name`, with what to know of its task; `None` where something is wrong with it.
    pub(super) fn node(
        &self,
        all: &mut Findings,
        defaults: &Map<String, Value>,
        (name, text): (&str, &RawValue),
    ) -> Result<Option<(Node, Vec<TaskWarning>)>, Problem> {
        let at = all.at(&pointer(name));
        let spec: NewNode = match json::parse_at(text.get().as_bytes(), &at) {
            Ok(spec) => spec,
            Err(problem) => {
                all.note(problem)?;
                return Ok(None);
            }
        };
        let mut f = Findings::new(at.clone());
        let (after, join) = self.after(&mut f, (name, spec.after, spec.join));
        let place = |name: &str| self.places.get(name).copied();
        let reads = Readable { place: &place, has_items: spec.for_each.is_some() };
        let test = spec.test.and_then(|test| reads.test(&mut f, "/if", &test));
        let items = spec.for_each.and_then(|list| items(&mut f, &reads, list));
        let made = match (spec.task, spec.wait) {
            (Some(task), None) => self.task(&mut f, &reads, defaults, task)?,
            (None, Some(wait)) => self.wait(&mut f, &reads, defaults, wait)?,
            _ => {
                f.wrong("", "must have exactly one of `task` and `wait`");
                None
            }
        };
        if made.as_ref().is_some_and(|made| made.wait.is_some()) && items.is_some() {
            f.wrong("/for_each", "is allowed only with a `task`");
        }
        let is_good = f.is_empty();
        all.join(f);
        let Some(made) = made.filter(|_| is_good) else { return Ok(None) };
        let Made { template, delay, holes, wait, warnings } = made;
        let name = name.to_owned();
        Ok(Some((
            Node { name, task: template, delay, after, join, test, items, holes, wait },
            warnings,
        )))
    }

    fn after(
        &self,
        f: &mut Findings,
        (own, given, join): (&str, Option<Vec<Given<NodeParent>>>, Option<Join>),
    ) -> (Vec<After>, Join) {
        let given = given.unwrap_or_default();
        if given.is_empty() && join.is_some() {
            f.wrong("/join", "is allowed only together with `after`");
        }
        if given.len() > MAX_PARENTS {
            f.wrong("/after", format!("must have {MAX_PARENTS} entries or fewer"));
            return (Vec::new(), Join::All);
        }
        let count = u32::try_from(given.len()).unwrap_or(u32::MAX);
        let mut seen = HashSet::new();
        let mut after = Vec::with_capacity(given.len());
        for (nth, parent) in given.into_iter().enumerate() {
            let pointer = format!("/after/{nth}");
            match parent.read() {
                Ok(parent) if parent.node == own => f.wrong(&pointer, "is the node itself"),
                Ok(parent) => match self.places.get(parent.node.as_str()) {
                    Some(place) if seen.insert(*place) => {
                        after.push(After { node: *place, on: parent.on });
                    }
                    Some(_) => f.wrong(&pointer, "is given twice"),
                    None => f.wrong(
                        &pointer,
                        format!("`{}` is not a node of this workflow", short(&parent.node)),
                    ),
                },
                Err(wrong) => f.wrong(&pointer, wrong.to_string()),
            }
        }
        let join = join.unwrap_or_default();
        if let Join::AtLeast(wanted) = join
            && !(1..=count).contains(&wanted)
        {
            f.wrong(
                "/join/at_least",
                format!("must be 1 to {count}, the number of entries of `after`"),
            );
        }
        (after, join)
    }

    fn task(
        &self,
        f: &mut Findings,
        reads: &Readable<'_>,
        defaults: &Map<String, Value>,
        given: Value,
    ) -> Result<Option<Made>, Problem> {
        let Value::Object(mut fields) = given else {
            f.wrong("/task", "must be an object");
            return Ok(None);
        };
        refuse_others(f, "/task", &fields);
        let sized = ["tier", "resources"].iter().any(|field| fields.contains_key(*field));
        for (field, value) in defaults {
            if !(sized && ["tier", "resources"].contains(&field.as_str())) {
                fields.entry(field.clone()).or_insert_with(|| value.clone());
            }
        }
        let holes = match fields.get_mut("run") {
            Some(run) => reads.holes(f, "/task/run", run),
            None => Vec::new(),
        };
        if self.has_max_parallel && fields.get("concurrency_key").is_some_and(|key| !key.is_null())
        {
            f.wrong(
                "/task/concurrency_key",
                "cannot be given together with `max_parallel` of the workflow",
            );
        }
        if !f.is_empty() {
            return Ok(None);
        }
        self.made(f, (fields, "/task"), holes)
    }

    fn made(
        &self,
        f: &mut Findings,
        (fields, below): (Map<String, Value>, &str),
        holes: Vec<Hole<usize>>,
    ) -> Result<Option<Made>, Problem> {
        let text = serde_json::to_vec(&Value::Object(fields)).unwrap_or_default();
        if text.len() > self.most_bytes {
            f.wrong(
                below,
                format!("has {} bytes; a task may have {}", text.len(), self.most_bytes),
            );
            return Ok(None);
        }
        let at = f.at(below);
        let task = json::parse_at::<body::NewTask>(&text, &at)
            .and_then(|spec| self.rules.check(spec, at.clone(), self.origin.clone()));
        match task {
            Ok(task) => {
                let warnings = self.rules.warnings(&task, &at);
                let delay = task.delay.filter(|delay| !delay.is_zero());
                Ok(Some(Made { template: template(task), delay, holes, wait: None, warnings }))
            }
            Err(problem) => {
                f.note(problem)?;
                Ok(None)
            }
        }
    }

    fn wait(
        &self,
        f: &mut Findings,
        reads: &Readable<'_>,
        defaults: &Map<String, Value>,
        wait: NewWait,
    ) -> Result<Option<Made>, Problem> {
        let NewWait { signal, approval, delay, expires } = wait;
        let until = match (signal, approval, delay.is_some()) {
            (Some(key), None, false) => signal_key(f, reads, &key).map(WaitFor::Signal),
            (None, Some(true), false) => Some(WaitFor::Approval),
            (None, None, true) => Some(WaitFor::Time),
            _ => {
                f.wrong(
                    "/wait",
                    "must have exactly one of `signal`, `approval` (true) and `delay`",
                );
                None
            }
        };
        let delay = delay.map(|given| {
            duration(f, "/wait/delay", Some(given), Duration::ZERO..=MAX_WAIT, Duration::ZERO)
        });
        let least = Duration::from_millis(1);
        let range = least..=MAX_WAIT;
        let expires = expires.map(|given| duration(f, "/wait/expires", Some(given), range, least));
        if expires.is_some() && matches!(until, Some(WaitFor::Time)) {
            f.wrong("/wait/expires", "goes with `signal` and `approval` only");
        }
        let Some(until) = until.filter(|_| f.is_empty()) else { return Ok(None) };
        // Its task runs nothing, but stands in a pool as any.
        let mut fields: Map<String, Value> = Map::new();
        fields.extend(defaults.get("pool").map(|pool| ("pool".to_owned(), pool.clone())));
        fields.insert("run".to_owned(), value!({"noop": {}}));
        let made = self.made(f, (fields, "/wait"), Vec::new())?;
        let wait = Some(Wait { until, expires });
        Ok(made.map(|made| Made { delay, wait, warnings: Vec::new(), ..made }))
    }
}

/// What becomes a node.
struct Made {
    template: TaskTemplate,
    delay: Option<Duration>,
    holes: Vec<Hole<usize>>,
    wait: Option<Wait<usize>>,
    warnings: Vec<TaskWarning>,
}

fn refuse_others(f: &mut Findings, pointer: &str, fields: &Map<String, Value>) {
    for (field, detail) in OTHERS.into_iter().filter(|(field, _)| fields.contains_key(*field)) {
        f.wrong_entry(pointer, field, detail);
    }
}

fn items(f: &mut Findings, reads: &Readable<'_>, list: Value) -> Option<Items<usize>> {
    if let Value::Array(list) = list {
        return Some(Items(Source::Given(Value::Array(list))));
    }
    let own = Readable { has_items: false, place: reads.place };
    own.source(f, "/for_each", &list).map(Items)
}

fn signal_key(f: &mut Findings, reads: &Readable<'_>, key: &Value) -> Option<Source<usize>> {
    match key {
        Value::String(key) if is_signal_key(key) => Some(Source::Given(Value::from(key.as_str()))),
        Value::String(_) => {
            f.wrong("/wait/signal", "must have 1 to 200 characters, without control characters");
            None
        }
        _ => reads.source(f, "/wait/signal", key),
    }
}

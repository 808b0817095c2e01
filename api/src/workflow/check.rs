//! From a definition that a client sent to a plan, or everything that is wrong with it.
//!
//! Each node is checked by itself, as a task in a batch is; then the graph as a whole. What passes here must make tasks that the database
//! stores: what remains to be checked are the values that nodes read of each other, when they are known.

use super::node::Nodes;
use super::source::pointer;
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::task::{Findings, Origin, Rules, duration, read_labels};
use api_types::TaskWarning;
use api_types::request::WorkflowDefinition;
use domain::dependency::{Circle, topological_order};
use domain::workflow::{MAX_EDGES, MAX_NODES, Node, Plan, is_node_name};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::time::Duration;

/// Warnings of one answer.
const MAX_WARNINGS: usize = 32;
/// Nodes of a circle that are named.
const MAX_CIRCLE: usize = 20;
/// Longest description, characters.
const MAX_DESCRIPTION: usize = 1000;
/// Longest deadline of a run: ten years, as for the due time of a task.
const MAX_DEADLINE: Duration = Duration::from_secs(10 * 8760 * 3600);
/// Most that may run at a time.
const MAX_PARALLEL: u32 = 1_000_000;

/// A definition without mistakes.
#[derive(Debug)]
pub struct Checked {
    /// What runs are made of.
    pub plan: Plan,
    /// What to know of its tasks.
    pub warnings: Vec<TaskWarning>,
}

/// Checks the definition `text`, which stands at `base` in the body (empty, or `/definition`); each of its tasks by `rules`, and of at most
/// `most_bytes`.
///
/// # Errors
/// `validation_failed`, with what was found.
pub fn check(
    text: &[u8],
    base: &str,
    (rules, most_bytes): (&Rules<'_>, usize),
    origin: &Origin,
) -> Result<Checked, Problem> {
    let definition: WorkflowDefinition<&RawValue> = json::parse_at(text, base)?;
    let most = MAX_NODES.min(usize::try_from(rules.plan.workflow_tasks).unwrap_or(MAX_NODES));
    if !(1..=most).contains(&definition.nodes.0.len()) {
        let detail = format!("must have 1 to {most} nodes");
        return Err(Problem::at(Code::ValidationFailed, format!("{base}/nodes"), detail));
    }
    let mut f = Findings::new(base.to_owned());
    if let Some(text) = &definition.description
        && (text.chars().count() > MAX_DESCRIPTION || text.contains('\0'))
    {
        f.wrong(
            "/description",
            format!("must have {MAX_DESCRIPTION} characters at most, without NUL"),
        );
    }
    let usual = Duration::from_secs(1);
    let range = usual..=MAX_DEADLINE;
    let deadline =
        definition.deadline.map(|given| duration(&mut f, "/deadline", Some(given), range, usual));
    if definition.max_parallel.is_some_and(|most| !(1..=MAX_PARALLEL).contains(&most)) {
        f.wrong("/max_parallel", format!("must be from 1 to {MAX_PARALLEL}"));
    }
    let labels = definition.labels.map(|pairs| read_labels(&mut f, pairs)).unwrap_or_default();
    let places = names(&mut f, &definition.nodes.0);
    let limits = Nodes {
        places: &places,
        rules,
        most_bytes,
        origin,
        has_max_parallel: definition.max_parallel.is_some(),
    };
    let defaults = limits.defaults(&mut f, definition.defaults)?;
    let (mut nodes, mut warnings) = (Vec::new(), Vec::new());
    for (name, text) in &definition.nodes.0 {
        if let Some((node, of_node)) = limits.node(&mut f, &defaults, (name, text))? {
            nodes.push(node);
            warnings.extend(of_node);
        }
    }
    if nodes.len() == definition.nodes.0.len() {
        graph(&mut f, &nodes);
    }
    f.into_result()?;
    warnings.truncate(MAX_WARNINGS);
    let max_parallel = definition.max_parallel;
    Ok(Checked { plan: Plan { nodes, deadline, max_parallel, labels }, warnings })
}

/// The places of the nodes by their names.
fn names<'a, N>(f: &mut Findings, nodes: &'a [(String, N)]) -> HashMap<&'a str, usize> {
    let mut places = HashMap::with_capacity(nodes.len());
    for (place, (name, _)) in nodes.iter().enumerate() {
        if !is_node_name(name) {
            let detail =
                "must have a name of 1 to 64 of a-z A-Z 0-9 _ -, the first a letter or a digit";
            f.wrong(&pointer(name), detail);
        } else if places.insert(name.as_str(), place).is_some() {
            f.wrong(&pointer(name), "is given twice");
        }
    }
    places
}

/// Checks that nothing waits for itself, and that nodes read only of those that end before them.
fn graph(f: &mut Findings, nodes: &[Node]) {
    let edges: Vec<(usize, usize)> = nodes
        .iter()
        .enumerate()
        .flat_map(|(child, node)| node.after.iter().map(move |after| (after.node, child)))
        .collect();
    if edges.len() > MAX_EDGES {
        f.wrong("/nodes", format!("must have {MAX_EDGES} entries of `after` or fewer in all"));
        return;
    }
    match topological_order(nodes.len(), &edges) {
        Ok(order) => reads(f, nodes, &order),
        Err(Circle(circle)) => {
            let Some(first) = circle.first() else { return };
            let mut names: Vec<&str> =
                circle.iter().take(MAX_CIRCLE).map(|place| nodes[*place].name.as_str()).collect();
            if circle.len() > MAX_CIRCLE {
                names.push("…");
            }
            names.push(&nodes[*first].name);
            let detail = format!("waits for itself: {}", names.join(" waits for "));
            f.wrong(&format!("{}/after", pointer(&nodes[*first].name)), detail);
        }
    }
}

/// What a node reads of another that need not have ended would be there by chance.
fn reads(f: &mut Findings, nodes: &[Node], order: &[usize]) {
    let words = nodes.len().div_ceil(64);
    let mut before: Vec<Option<Vec<u64>>> = vec![None; nodes.len()];
    let is_direct = |node: &Node, read: usize| node.after.iter().any(|after| after.node == read);
    let needed = nodes.iter().any(|node| node.reads().any(|read| !is_direct(node, read)));
    for &place in order.iter().filter(|_| needed) {
        let mut own = vec![0u64; words];
        for after in &nodes[place].after {
            own[after.node / 64] |= 1 << (after.node % 64);
            for (own, theirs) in own.iter_mut().zip(before[after.node].iter().flatten()) {
                *own |= theirs;
            }
        }
        before[place] = Some(own);
    }
    for (place, node) in nodes.iter().enumerate() {
        let is_before = |read: usize| {
            is_direct(node, read)
                || before[place]
                    .as_ref()
                    .is_some_and(|before| before[read / 64] >> (read % 64) & 1 == 1)
        };
        for read in node.reads().filter(|read| !is_before(*read)) {
            let detail = format!(
                "reads of `{}`, which need not have ended: name it in `after`",
                nodes[read].name
            );
            f.wrong(&pointer(&node.name), detail);
        }
    }
}

//! The graph of a run in a terminal: a line for each node, or for each layer where there are many.
//!
//! Under it are the commands that a person may need next: to approve, to send a signal, to read what failed.

use super::notes::Notes;
use crate::output::{Table, age, cell, paint};
use chrono::TimeDelta;
use client::{Extensible, GraphNode, GraphParent, WorkflowGraph, WorkflowRun};
use domain::dependency::{Condition, Join};
use domain::task::State;
use domain::time::Timestamp;
use std::collections::BTreeMap;

/// Nodes that are drawn one by one.
const MOST_NODES: usize = 500;
/// Next commands that are shown.
const MOST_HINTS: usize = 5;

const COLUMNS: [&str; 7] = ["LAYER", "", "NODE", "STATE", "TIME", "AFTER", "NOTE"];
const LAYER_COLUMNS: [&str; 3] = ["LAYER", "NODES", "STATES"];

/// The graph at the time `now`.
pub(super) fn draw(graph: &WorkflowGraph, now: Timestamp) -> String {
    if graph.nodes.len() > MOST_NODES {
        return by_layer(graph, now);
    }
    framed(graph, now, &by_node(Table::new(COLUMNS).with_states(), graph, now))
}

/// The graph in fewer than `rows` lines.
pub(super) fn draw_within(graph: &WorkflowGraph, now: Timestamp, rows: usize) -> String {
    let fits = |text: &String| text.lines().count() < rows;
    if let Some(drawn) = Some(draw(graph, now)).filter(fits) {
        return drawn;
    }
    let drawn = by_layer(graph, now);
    if fits(&drawn) {
        return drawn;
    }
    let lines = drawn.lines().count();
    let shown = rows.saturating_sub(2).max(1);
    let mut text: String = drawn.lines().take(shown).map(|line| format!("{line}\n")).collect();
    text.push_str(&format!("… {} more lines\n", lines.saturating_sub(shown)));
    text
}

/// How long something took, or takes: to a tenth of a second where it is short.
pub(super) fn took(node: &GraphNode, now: Timestamp) -> String {
    let Some(start) = node.started_at else { return String::new() };
    length(node.finished_at.unwrap_or(now) - start)
}

/// The state of a task, which may be in no history any more.
pub(super) fn state(state: Option<&Extensible<State>>) -> String {
    state.map_or_else(|| "unknown".to_owned(), ToString::to_string)
}

fn framed(graph: &WorkflowGraph, now: Timestamp, body: &str) -> String {
    let mut text = format!("{}\n\n{body}", head(&graph.run, now));
    let hints = hints(graph);
    if !hints.is_empty() {
        text.push('\n');
    }
    hints.iter().take(MOST_HINTS).for_each(|hint| text.push_str(&format!("{hint}\n")));
    if let Some(more @ 1..) = hints.len().checked_sub(MOST_HINTS) {
        text.push_str(&format!("and {more} more\n"));
    }
    text
}

fn head(run: &WorkflowRun, now: Timestamp) -> String {
    let of = |version| format!(" (version {version})");
    let version = run.version.map(of).unwrap_or_default();
    let workflow = run.workflow.as_ref().map(|name| format!("{name}{version}"));
    let state = run.state.to_string();
    let state = if paint::on_output() { paint::painted(&state, &state) } else { state };
    let failed =
        if run.failed > 0 { format!(", {} unsuccessful", run.failed) } else { String::new() };
    let tasks = format!("{}/{} tasks ended{failed}", run.ended, run.tasks);
    let took = length(run.finished_at.unwrap_or(now) - run.created_at);
    let parts = [Some(run.id.to_string()), workflow, Some(state), Some(tasks), Some(took)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}

fn by_node(mut table: Table<7>, graph: &WorkflowGraph, now: Timestamp) -> String {
    let mut nodes: Vec<&GraphNode> = graph.nodes.iter().collect();
    // Stable: within a layer, in the order of the definition.
    nodes.sort_by_key(|node| node.layer);
    let notes = Notes::new(graph);
    for node in nodes {
        table.row([
            node.layer.to_string(),
            mark(node.state.as_ref()).to_owned(),
            node.name.clone(),
            state(node.state.as_ref()),
            took(node, now),
            after(node),
            notes.note(node),
        ]);
    }
    table.take()
}

fn by_layer(graph: &WorkflowGraph, now: Timestamp) -> String {
    let mut layers: BTreeMap<u32, Vec<&GraphNode>> = BTreeMap::new();
    for node in &graph.nodes {
        layers.entry(node.layer).or_default().push(node);
    }
    let mut table = Table::new(LAYER_COLUMNS);
    for (layer, nodes) in layers {
        let mut counts: BTreeMap<(usize, String), usize> = BTreeMap::new();
        for node in &nodes {
            let state = node.state.as_ref();
            *counts.entry((rank(state), self::state(state))).or_default() += 1;
        }
        let states = counts.iter().map(|((_, state), number)| format!("{number} {state}"));
        let states = states.collect::<Vec<_>>().join(", ");
        table.row([layer.to_string(), nodes.len().to_string(), states]);
    }
    framed(graph, now, &table.take())
}

/// Where in its life a task is: what has ended first.
fn rank(state: Option<&Extensible<State>>) -> usize {
    let marks = ["✓", "✗", "–", "●", "○"];
    marks.iter().position(|mark| *mark == self::mark(state)).unwrap_or(marks.len())
}

fn mark(state: Option<&Extensible<State>>) -> &'static str {
    match state.and_then(Extensible::known) {
        Some(State::Succeeded) => "✓",
        Some(State::Failed | State::Aborted | State::Killed | State::Expired) => "✗",
        Some(State::Cancelled | State::Skipped) => "–",
        Some(State::Running | State::Cancelling) => "●",
        Some(State::Scheduled | State::Ready | State::Queued | State::Retrying) => "○",
        None => "?",
    }
}

fn after(node: &GraphNode) -> String {
    let parents = node.after.iter().map(|GraphParent { node, on }| match on {
        Extensible::Known(Condition::Succeeded) => node.clone(),
        on => format!("{node}={on}"),
    });
    let parents = parents.collect::<Vec<_>>().join(", ");
    match &node.join {
        None | Some(Extensible::Known(Join::All)) => parents,
        Some(join) => format!("{join} of {parents}"),
    }
}

fn has_failed(state: Option<&Extensible<State>>) -> bool {
    let state = state.and_then(Extensible::known);
    matches!(state, Some(State::Failed | State::Aborted | State::Killed))
}

/// What a person may type next.
fn hints(graph: &WorkflowGraph) -> Vec<String> {
    let mut hints = Vec::new();
    for node in &graph.nodes {
        let name = &node.name;
        if let Some(wait) = &node.waits_for {
            hints.push(match &wait.signal {
                Some(key) => format!("{name} waits for a signal: berth signal {}", cell::word(key)),
                None => format!("{name} waits for approval: berth approve {}", node.task),
            });
        }
        if has_failed(node.state.as_ref()) && node.attempts > 0 {
            hints.push(format!("{name} failed: berth logs {}", node.task));
        }
        for (at, item) in node.items.iter().flatten().enumerate() {
            if has_failed(item.state.as_ref()) {
                hints.push(format!("{name}[{at}] failed: berth logs {}", item.task));
            }
        }
    }
    hints
}

fn length(length: TimeDelta) -> String {
    let tenths = (length.num_milliseconds().max(0) + 50) / 100;
    if tenths < 100 { format!("{}.{}s", tenths / 10, tenths % 10) } else { age::short(length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const TASK: &str = "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071";

    fn node(name: &str, layer: u32, state: &str, more: Value) -> Value {
        let mut node = json!({"name": name, "task": TASK, "state": state, "layer": layer, "after": [], "join": null,
            "waits_for": null, "items": null, "taken_over": false, "attempts": 0, "started_at": null, "finished_at": null,
            "reason": null});
        for (name, value) in more.as_object().unwrap() {
            node[name] = value.clone();
        }
        node
    }

    fn graph(nodes: Vec<Value>) -> WorkflowGraph {
        let run = json!({"id": "run_0190a6f3c1d27a3e8b1f0c2d4e5f6071", "workflow": "load", "version": 2, "state": "running",
            "tasks": 9, "ended": 3, "failed": 1, "labels": {}, "created_at": "2030-01-31T12:00:00Z", "deadline_at": null,
            "finished_at": null, "reason": null, "rerun_of": null, "started_by": "q2mnv5c7xk3a"});
        serde_json::from_value(json!({"run": run, "nodes": nodes})).unwrap()
    }

    fn now() -> Timestamp {
        "2030-01-31T12:00:42Z".parse().unwrap()
    }

    #[test]
    fn a_node_is_a_line_by_layer_and_then_by_the_definition() {
        let items = json!([{"task": TASK, "state": "succeeded"}, {"task": TASK, "state": "failed"}, {"task": TASK, "state": "queued"}]);
        let graph = graph(vec![
            node(
                "zulu",
                0,
                "succeeded",
                json!({"attempts": 1, "started_at": "2030-01-31T12:00:01Z", "finished_at": "2030-01-31T12:00:02.25Z"}),
            ),
            node(
                "resize",
                1,
                "scheduled",
                json!({"after": [{"node": "zulu", "on": "succeeded"}], "join": "all", "items": items}),
            ),
            node(
                "alpha",
                0,
                "failed",
                json!({"attempts": 2, "started_at": "2030-01-31T12:00:01Z", "finished_at": "2030-01-31T12:00:31Z",
                "reason": "ended with exit code 3"}),
            ),
            node(
                "repair",
                1,
                "running",
                json!({"after": [{"node": "alpha", "on": "failed"}, {"node": "zulu", "on": "succeeded"}], "join": "any",
                "attempts": 1, "started_at": "2030-01-31T12:00:40Z"}),
            ),
            node("sign", 2, "scheduled", json!({"waits_for": {"signal": null}})),
            node("order", 2, "scheduled", json!({"waits_for": {"signal": "order 7"}})),
        ]);
        let drawn = by_node(Table::new(COLUMNS), &graph, now());
        assert_eq!(
            drawn,
            "LAYER     NODE    STATE      TIME  AFTER                      NOTE\n\
             0      ✓  zulu    succeeded  1.3s\n\
             0      ✗  alpha   failed     30s                              ended with exit code 3\n\
             1      ○  resize  scheduled        zulu                       2/3\n\
             1      ●  repair  running    2.0s  any of alpha=failed, zulu\n\
             2      ○  sign    scheduled                                   waits for approval\n\
             2      ○  order   scheduled                                   waits for signal order 7\n"
        );
        assert_eq!(
            hints(&graph),
            [
                format!("resize[1] failed: berth logs {TASK}"),
                format!("alpha failed: berth logs {TASK}"),
                format!("sign waits for approval: berth approve {TASK}"),
                "order waits for a signal: berth signal 'order 7'".to_owned(),
            ]
        );
        assert!(
            draw(&graph, now())
                .lines()
                .next()
                .unwrap()
                .ends_with("3/9 tasks ended, 1 unsuccessful  42s")
        );
    }

    #[test]
    fn many_nodes_are_counted_by_layer() {
        let all = (0..600).map(|at| {
            let state = if at % 3 == 0 { "succeeded" } else { "of_tomorrow" };
            node(&format!("n{at}"), at / 300, state, json!({}))
        });
        let drawn = draw(&graph(all.collect()), now());
        let lines: Vec<&str> = drawn.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "LAYER  NODES  STATES",
                "0      300    100 succeeded, 200 of_tomorrow",
                "1      300    100 succeeded, 200 of_tomorrow"
            ]
        );
    }

    #[test]
    fn a_small_terminal_gets_layers_or_a_part_of_them() {
        let nodes = |layers: u32| {
            (0..40).map(move |at| node(&format!("n{at}"), at % layers, "ready", json!({})))
        };
        let few = graph(nodes(3).collect());
        assert_eq!(draw_within(&few, now(), 100), draw(&few, now()));
        assert_eq!(draw_within(&few, now(), 20).lines().count(), 6);
        let many = graph(nodes(40).collect());
        let cut = draw_within(&many, now(), 20);
        assert_eq!(cut.lines().count(), 19);
        assert_eq!(cut.lines().last(), Some("… 25 more lines"));
    }

    #[test]
    fn only_the_first_hints_are_shown() {
        let waits = (0..8).map(|at| {
            node(&format!("n{at}"), 0, "scheduled", json!({"waits_for": {"signal": "k"}}))
        });
        assert!(draw(&graph(waits.collect()), now()).ends_with("\nand 3 more\n"));
    }
}

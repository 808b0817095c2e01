//! Watching a run to its end.
//!
//! On a terminal its graph is drawn again in place; elsewhere each change of a node's state is a line, so that a log stays readable.
//! Ctrl-C ends the watching, never the run.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::draw::{draw, draw_within, state, took};
use super::notes::Notes;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, Table, cell};
use client::{ClientError, Extensible, WorkflowGraph, WorkflowRun};
use domain::id::WorkflowRunId;
use domain::task::State;
use domain::time::parse_duration;
use domain::workflow::RunState;
use runtime::clock;
use std::collections::HashMap;
use std::time::Duration;

/// First pause between two polls. It grows by half from poll to poll, up to the poll interval.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const COLUMNS: [&str; 4] = ["NODE", "STATE", "TIME", "NOTE"];

/// Whether to watch a run.
#[derive(Debug, Clone, clap::Args)]
pub struct WatchArguments {
    /// Watch the run until it has ended; the exit code is its result. Ctrl-C does not stop the run.
    #[arg(long)]
    pub watch: bool,
    /// Poll interval of --watch.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "1s", requires = "watch")]
    pub every: Duration,
}

/// Shows what happens until the run has ended; fails where it did not succeed.
pub(super) async fn watch(
    connection: &Connection,
    run: WorkflowRunId,
    how: &WatchArguments,
) -> Result<(), Failure> {
    let every = how.every.max(FIRST_PAUSE);
    let mut pause = FIRST_PAUSE;
    let mut screen = Screen::default();
    let mut changes = Changes::default();
    loop {
        let graph = connection.client.workflow_graph(run).await;
        let graph = graph.map_err(|error| lost(&error, run))?;
        match connection.format {
            Format::Json if graph.run.is_finished() => output::document(graph.json())?,
            Format::Json => {}
            Format::Table if output::is_terminal() => screen.show(&graph)?,
            Format::Table => output::text(&changes.lines(&graph))?,
        }
        if graph.run.is_finished() {
            return ended(&graph.run);
        }
        clock::sleep(pause).await;
        pause = pause.mul_f64(1.5).min(every);
    }
}

/// A graph on a terminal.
#[derive(Debug, Default)]
struct Screen {
    /// Lines that it has now.
    lines: usize,
}

impl Screen {
    /// Draws `graph` in place of what was drawn before.
    fn show(&mut self, graph: &WorkflowGraph) -> Result<(), Failure> {
        let now = clock::wall();
        let back = match self.lines {
            0 => String::new(),
            lines => format!("\u{1b}[{lines}A\r\u{1b}[J"),
        };
        if graph.run.is_finished() {
            return output::text(&format!("{back}{}", draw(graph, now)));
        }
        let rows = rustix::termios::tcgetwinsize(std::io::stdout()).map(|size| size.ws_row);
        let drawn = match rows {
            Ok(rows @ 3..) => draw_within(graph, now, usize::from(rows)),
            _ => draw(graph, now),
        };
        self.lines = drawn.lines().count();
        // A line that is too long is cut and not wrapped, so that each is one row.
        output::text(&format!("{back}\u{1b}[?7l{drawn}\u{1b}[?7h"))
    }
}

/// What was said of each node.
#[derive(Debug, Default)]
struct Changes {
    states: HashMap<String, Option<Extensible<State>>>,
    table: Option<Table<4>>,
}

impl Changes {
    /// A line for each node whose state is another now. At first all wait.
    fn lines(&mut self, graph: &WorkflowGraph) -> String {
        let (now, notes) = (clock::wall(), Notes::new(graph));
        let table = self.table.get_or_insert_with(|| empty_table(graph));
        for node in &graph.nodes {
            let waits = || Some(State::Scheduled.into());
            let before = self.states.entry(node.name.clone()).or_insert_with(waits);
            if *before != node.state {
                before.clone_from(&node.state);
                let state = state(node.state.as_ref());
                table.row([node.name.clone(), state, took(node, now), notes.note(node)]);
            }
        }
        table.take()
    }
}

/// A table in which each node has room.
fn empty_table(graph: &WorkflowGraph) -> Table<4> {
    let names = graph.nodes.iter().map(|node| node.name.len());
    let states = State::ALL.iter().map(|state| state.as_str().len());
    let widths = [names.max().unwrap_or_default(), states.max().unwrap_or_default(), 4, 0];
    Table::new(COLUMNS).at_least(widths)
}

/// Success where the run succeeded; a failure that says how it ended otherwise.
fn ended(run: &WorkflowRun) -> Result<(), Failure> {
    let exit = match run.state.known() {
        Some(RunState::Succeeded) => return Ok(()),
        Some(RunState::Cancelled | RunState::Expired) => Exit::NotRun,
        _ => Exit::Failed,
    };
    let how = match run.state.known() {
        Some(RunState::Cancelled) => "was cancelled".to_owned(),
        _ => run.state.to_string(),
    };
    let reason = run.reason.as_ref().map(|reason| format!(": {}", cell::plain(reason)));
    let id = run.id;
    let said = format!("{id} {how}{}. See `berth workflow graph {id}`", reason.unwrap_or_default());
    Err(Failure::new(exit, said))
}

fn lost(error: &ClientError, run: WorkflowRunId) -> Failure {
    let failure = failure(error);
    if failure.exit() != Exit::Unreachable {
        return failure;
    }
    failure.adding(&format!(
        " The run continues; to watch it again: berth workflow graph {run} --watch"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn graph(states: &[&str]) -> WorkflowGraph {
        let run = json!({"id": "run_0190a6f3c1d27a3e8b1f0c2d4e5f6071", "workflow": null, "version": null, "state": "running",
            "tasks": 2, "ended": 0, "failed": 0, "labels": {}, "created_at": "2030-01-31T12:00:00Z", "deadline_at": null,
            "finished_at": null, "reason": null, "rerun_of": null, "started_by": "q2mnv5c7xk3a"});
        let node = |(at, state): (usize, &&str)| {
            json!({"name": format!("n{at}"), "task": "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071", "state": state, "layer": 0, "after": [],
                "join": null, "waits_for": null, "items": null, "taken_over": false, "attempts": 0, "started_at": null,
                "finished_at": null, "reason": null})
        };
        let nodes: Vec<_> = states.iter().enumerate().map(node).collect();
        serde_json::from_value(json!({"run": run, "nodes": nodes})).unwrap()
    }

    #[test]
    fn each_change_of_a_node_is_a_line() {
        let mut changes = Changes::default();
        assert_eq!(
            changes.lines(&graph(&["scheduled", "ready"])),
            "NODE  STATE       TIME  NOTE\nn1    ready\n"
        );
        assert_eq!(changes.lines(&graph(&["scheduled", "ready"])), "");
        assert_eq!(
            changes.lines(&graph(&["skipped", "running"])),
            "n0    skipped\nn1    running\n"
        );
    }

    #[test]
    fn only_a_run_that_succeeded_is_a_success() {
        let of = |state: RunState| {
            let run =
                WorkflowRun { state: state.into(), reason: Some("x".to_owned()), ..graph(&[]).run };
            ended(&run).map_err(|failure| (failure.exit(), failure.to_string()))
        };
        assert!(of(RunState::Succeeded).is_ok());
        for (state, exit, how) in [
            (RunState::Failed, Exit::Failed, "failed: x"),
            (RunState::Cancelled, Exit::NotRun, "was cancelled: x"),
            (RunState::Expired, Exit::NotRun, "expired: x"),
        ] {
            let (code, said) = of(state).unwrap_err();
            assert!(code == exit && said.contains(how), "{said}");
        }
    }
}

//! `/workflows/runs/{id}`: a run, its graph, its nodes, and what can be done with it.

use super::graph::Graph;
use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::needs::Needs;
use crate::visit::{Visit, in_path};
use crate::words::{Mark, Moment, length, mark_of};
use actix_web::HttpResponse;
use api_types::{GraphNode, WorkflowGraph, WorkflowRun};
use askama::Template;
use domain::access::Permission;
use domain::task::State;
use serde_json::Value;

#[derive(Template)]
#[template(path = "workflows/run.html")]
struct RunPage {
    frame: Frame,
    id: String,
    title: String,
    part: Part,
    live: Option<String>,
}

/// The part that renews itself.
#[derive(Template)]
#[template(path = "workflows/run_part.html")]
struct Part {
    id: String,
    state: Mark,
    progress: String,
    times: Vec<(&'static str, Moment)>,
    reason: String,
    may_cancel: bool,
    may_rerun: bool,
    graph: Graph,
    nodes: Vec<NodeRow>,
    is_over: bool,
}

struct NodeRow {
    name: String,
    task: String,
    state: Mark,
    took: String,
    reason: String,
}

/// Shows it, or the part that is asked for.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = format!("/v1/workflow-runs/{}/graph", visit.part_in_path("id"));
    let WorkflowGraph { run, nodes } = visit.get(target).await?;
    let part = part(&visit, &run, &nodes);
    if visit.fragment().is_some() {
        return page(&part);
    }
    let name = run.workflow.clone().unwrap_or_else(|| "Workflow run".to_owned());
    let live = (!part.is_over).then(|| format!("/workflows/runs/{}?fragment=graph", part.id));
    let frame = Frame::new(&visit, Section::Workflows, name.clone());
    page(&RunPage { frame, id: part.id.clone(), title: name, part, live })
}

fn part(visit: &Visit, run: &WorkflowRun, nodes: &[GraphNode]) -> Part {
    let (is_over, may) = (run.is_finished(), visit.may(Permission::SubmitTasks));
    let failed = if run.failed > 0 { format!(", {} failed", run.failed) } else { String::new() };
    let times = [
        ("Started", Some(run.created_at)),
        ("Must end by", run.deadline_at),
        ("Ended", run.finished_at),
    ];
    Part {
        id: run.id.to_string(),
        state: mark_of(&run.state.to_string()),
        progress: format!("{} of {} tasks ended{failed}", run.ended, run.tasks),
        times: times.into_iter().filter_map(|(label, at)| Some((label, Moment(at?)))).collect(),
        reason: run.reason.clone().unwrap_or_default(),
        may_cancel: may && !is_over,
        may_rerun: may && is_over && !nodes.iter().all(is_done),
        graph: Graph::of(nodes),
        nodes: nodes.iter().map(row).collect(),
        is_over,
    }
}

/// Whether a new run would take over what this node came to. The API refuses a run in which nothing is run again.
fn is_done(node: &GraphNode) -> bool {
    let is_good = |state: &State| matches!(state, State::Succeeded | State::Skipped);
    node.state.as_ref().is_some_and(|state| state.is(is_good))
}

fn row(node: &GraphNode) -> NodeRow {
    let took = match (node.started_at, node.finished_at) {
        (Some(started), Some(finished)) => length(finished - started),
        (Some(_), None) => format!("attempt {}", node.attempts),
        _ => String::new(),
    };
    let state = node.state.as_ref().map_or_else(|| "not-made-yet".to_owned(), ToString::to_string);
    NodeRow {
        name: node.name.clone(),
        task: node.task.to_string(),
        state: mark_of(&state),
        took,
        reason: node.reason.clone().unwrap_or_default(),
    }
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct AskPage {
    frame: Frame,
    says: &'static str,
    action: String,
    back: String,
    button: &'static str,
}

/// What can be done: its word, the question, what it says, the button, and what is said after it.
const LEVERS: [(&str, &str, &str, &str, &str); 2] = [
    (
        "cancel",
        "Cancel this run?",
        "Tasks that wait are cancelled, those that run are asked to stop, and no other starts.",
        "Cancel the run",
        "run-cancelled",
    ),
    (
        "rerun",
        "Run this again?",
        "A new run with the same input starts. Nodes that succeeded keep their results; those that failed or did not run are run.",
        "Run it again",
        "rerun",
    ),
];

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    if !visit.may(Permission::SubmitTasks) {
        return Err(Fault::NotAllowed(Needs::May(Permission::SubmitTasks)));
    }
    let word = visit.part("lever");
    let lever = LEVERS.into_iter().find(|lever| lever.0 == word).ok_or(Fault::NoPage)?;
    let run: WorkflowRun =
        visit.get(format!("/v1/workflow-runs/{}", visit.part_in_path("id"))).await?;
    let back = format!("/workflows/runs/{}", run.id);
    let frame = Frame::new(&visit, Section::Workflows, lever.1);
    page(&AskPage {
        frame,
        says: lever.2,
        action: format!("{back}/do/{word}"),
        back,
        button: lever.3,
    })
}

/// Does it.
pub(crate) async fn pull(visit: Visit) -> Result<HttpResponse, Fault> {
    let word = visit.part("lever");
    let lever = LEVERS.into_iter().find(|lever| lever.0 == word).ok_or(Fault::NoPage)?;
    let target = format!("/v1/workflow-runs/{}/{}", visit.part_in_path("id"), lever.0);
    let run: Value = visit.act(Method::Post, target).await?;
    // A cancel answers with the run and what became of it.
    let id = run["id"].as_str().or_else(|| run["run"]["id"].as_str()).unwrap_or_default();
    Err(Fault::to(format!("/workflows/runs/{}?done={}", in_path(id), lever.4)))
}

//! `/workflows/runs/{id}`: a run, its graph with the critical path, its nodes, and what can be done with it.

use super::critical::{Path, Step};
use super::graph::Graph;
use super::lever::{Lever, On, PLAIN, asking, named, run_path, sentence, to, write};
use super::node::{self, Act};
use super::stands::{stands, unsuccessful};
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::visit::Visit;
use crate::words::{Mark, Moment, length, mark_of};
use actix_web::HttpResponse;
use api_types::{GraphNode, WorkflowGraph, WorkflowRun};
use askama::Template;
use domain::access::Permission;
use domain::task::State;
use runtime::clock::wall;

#[derive(Template)]
#[template(path = "workflows/run.html")]
struct RunPage {
    frame: Frame,
    id: String,
    title: String,
    part: Part,
    live: Option<String>,
}

/// The part that renews itself. It has links and no form.
#[derive(Template)]
#[template(path = "workflows/run_part.html")]
struct Part {
    id: String,
    state: Mark,
    progress: String,
    times: Vec<(&'static str, Moment)>,
    facts: Vec<(&'static str, String, Option<String>)>,
    reason: String,
    may_cancel: bool,
    may_rerun: bool,
    graph: Graph,
    steps: Vec<StepRow>,
    took: String,
    nodes: Vec<NodeRow>,
    is_over: bool,
}

struct NodeRow {
    name: String,
    task: String,
    state: Mark,
    on_path: bool,
    after: String,
    took: String,
    reason: String,
    /// What it waits for.
    waits: String,
    acts: Vec<Act>,
}

struct StepRow {
    name: String,
    says: String,
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
    let failed = unsuccessful(run, nodes);
    let times = [
        ("Started", Some(run.created_at)),
        ("Must end by", run.deadline_at),
        ("Ended", run.finished_at),
    ];
    let path = Path::of(nodes, run.created_at, wall());
    Part {
        id: run.id.to_string(),
        state: mark_of(&run.state.to_string()),
        progress: format!("{} of {} tasks ended{failed}", run.ended, run.tasks),
        times: times.into_iter().filter_map(|(label, at)| Some((label, Moment(at?)))).collect(),
        facts: facts(run),
        reason: run.reason.clone().unwrap_or_default(),
        may_cancel: may && !is_over,
        may_rerun: may && is_over && !nodes.iter().all(is_done),
        graph: Graph::of(nodes, &path),
        steps: path.steps.iter().map(step).collect(),
        took: length(path.took),
        nodes: nodes.iter().map(|node| row(visit, run, node, &path)).collect(),
        is_over,
    }
}

/// Whether a new run would take over what this node came to. The API refuses a run in which nothing is run again.
fn is_done(node: &GraphNode) -> bool {
    let is_good = |state: &State| matches!(state, State::Succeeded | State::Skipped);
    node.state.as_ref().is_some_and(|state| state.is(is_good))
}

/// Label, text, and where it leads.
fn facts(run: &WorkflowRun) -> Vec<(&'static str, String, Option<String>)> {
    let mut facts = Vec::new();
    if let (Some(name), Some(version)) = (&run.workflow, run.version) {
        let to = format!("/workflows/definitions/{}", crate::visit::in_path(name));
        facts.push(("Workflow", format!("{name}, version {version}"), Some(to)));
    }
    if let Some(before) = run.rerun_of {
        facts.push(("Runs again", before.to_string(), Some(run_path(&before.to_string()))));
    }
    if let (Some(name), Some(due)) = (&run.schedule_name, run.due_at) {
        let to = format!("/schedules/{}", crate::visit::in_path(name));
        facts.push((
            "Of the schedule",
            format!("{name}, due {}", due.format("%Y-%m-%d %H:%M:%S UTC")),
            Some(to),
        ));
    }
    facts.push(("Started by", run.started_by.to_string(), None));
    facts
}

fn step(step: &Step) -> StepRow {
    let says = match (step.taken_over, step.waited, step.ran) {
        (true, ..) => "taken over from the run before".to_owned(),
        (_, Some(waited), Some(ran)) => {
            let ran = length(ran);
            let runs =
                if step.is_open { format!("has run for {ran}") } else { format!("ran {ran}") };
            format!("waited {}, {runs}", length(waited))
        }
        (_, Some(waited), None) if step.has_items => format!("its items: {}", length(waited)),
        (_, Some(waited), None) if step.is_open => format!("has waited for {}", length(waited)),
        (_, waited, _) => format!("waited {}", length(waited.unwrap_or_default())),
    };
    StepRow { name: step.name.clone(), says }
}

fn row(visit: &Visit, run: &WorkflowRun, node: &GraphNode, path: &Path) -> NodeRow {
    let took = match (node.started_at, node.finished_at) {
        _ if node.taken_over => "taken over".to_owned(),
        (Some(started), Some(finished)) => length(finished - started),
        (Some(_), None) => format!("attempt {}", node.attempts),
        _ => String::new(),
    };
    let after = node.after.iter().map(|parent| match parent.on.to_string().as_str() {
        "succeeded" => parent.node.clone(),
        on => format!("{} ({})", parent.node, on.replace('_', " ")),
    });
    let waits = match &node.waits_for {
        Some(wait) => wait.signal.as_ref().map_or_else(
            || "a person approves or rejects it".to_owned(),
            |key| format!("waits for the signal {key}"),
        ),
        None => String::new(),
    };
    let starts = node.starts_by.map(|at| {
        format!(
            "starts by {} at the latest, if all before it need their caps",
            at.format("%Y-%m-%d %H:%M:%S UTC")
        )
    });
    let items = node.items.as_ref().map(|items| {
        let ended = |item: &&api_types::GraphItem| {
            item.state.as_ref().is_none_or(|state| state.is(|state| state.is_terminal()))
        };
        format!("{} of {} items ended", items.iter().filter(ended).count(), items.len())
    });
    let notes: Vec<String> =
        [waits].into_iter().filter(|text| !text.is_empty()).chain(starts).chain(items).collect();
    NodeRow {
        name: node.name.clone(),
        task: node.task.to_string(),
        state: mark_of(&stands(node)),
        on_path: path.has(&node.name),
        after: after.collect::<Vec<_>>().join(", "),
        took,
        reason: node.reason.clone().unwrap_or_default(),
        waits: notes.join("; "),
        acts: node::of(visit, run, node),
    }
}

const LEVERS: [Lever; 2] = [
    Lever {
        word: "cancel",
        label: "Cancel the run",
        title: "Cancel this run?",
        says: "Tasks that wait are cancelled, those that run are asked to stop, and no other starts.",
        is_danger: true,
        done: "run-cancelled",
        ..PLAIN
    },
    Lever {
        word: "rerun",
        label: "Run it again",
        title: "Run this again?",
        says: "A new run with the same input starts. Nodes that succeeded keep their results; those that failed or did not run are run.",
        done: "rerun",
        ..PLAIN
    },
];

async fn on(visit: &Visit, lever: Lever) -> Result<On, Fault> {
    let run: WorkflowRun =
        visit.get(format!("/v1/workflow-runs/{}", visit.part_in_path("id"))).await?;
    let back = run_path(&run.id.to_string());
    Ok(On {
        name: run.workflow.unwrap_or_else(|| "the run".to_owned()),
        action: format!("{back}/do/{}", lever.word),
        back,
        more: vec![format!("Run {}.", run.id)],
    })
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let lever = named(&visit, &LEVERS)?;
    let on = on(&visit, lever).await?;
    asking(&visit, lever, on, None)
}

/// Does it.
pub(crate) async fn pull(visit: Visit) -> Result<HttpResponse, Fault> {
    let lever = named(&visit, &LEVERS)?;
    let target = format!("/v1/workflow-runs/{}/{}", visit.part_in_path("id"), lever.word);
    match write(&visit, target, None).await {
        // The new run; of a cancel the same one, in a field.
        Ok(run) => {
            let id = run["id"].as_str().or_else(|| run["run"]["id"].as_str()).unwrap_or_default();
            Err(to(&run_path(id), lever))
        }
        Err(Fault::Problem(problem)) if problem.status == 409 => {
            let on = on(&visit, lever).await?;
            asking(&visit, lever, on, Some(sentence(*problem)))
        }
        Err(fault) => Err(fault),
    }
}

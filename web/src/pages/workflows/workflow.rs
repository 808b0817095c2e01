//! `GET /workflows/definitions/{name}`: a definition, the versions of it that ran, and what can be done with it.

use super::lever::{Asks, Lever, On, PLAIN, asking, json, named, run_path, sentence, to, write};
use super::pretty::pretty;
use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::visit::{Visit, in_path};
use crate::words::{Ago, Mark, Moment, count, mark_of};
use actix_web::HttpResponse;
use api_types::{Page, Workflow, WorkflowRun};
use askama::Template;
use domain::access::Permission;
use runtime::clock::wall;
use serde_json::{Value, json as value};
use std::collections::BTreeMap;

/// Runs that are read, of which versions are counted.
const RUNS: usize = 200;
/// Runs that are listed.
const LISTED: usize = 10;

#[derive(Template)]
#[template(path = "workflows/workflow.html")]
struct WorkflowPage {
    frame: Frame,
    workflow: Workflow,
    path: String,
    changed: Moment,
    document: String,
    versions: Vec<Version>,
    runs: Vec<(String, Mark, Ago)>,
    runs_wrong: Option<String>,
    all: String,
    may_submit: bool,
}

/// A version, and what ran of it lately.
struct Version {
    number: i64,
    is_stored: bool,
    runs: String,
    failed: String,
    last: Option<Ago>,
}

/// Shows it.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let workflow: Workflow =
        visit.get(format!("/v1/workflows/{}", visit.part_in_path("name"))).await?;
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let query = query.append_pair("workflow", &workflow.name).finish();
    let runs: Result<Page<WorkflowRun>, String> =
        visit.try_get(format!("/v1/workflow-runs?limit={RUNS}&{query}")).await;
    let now = wall();
    let (runs, runs_wrong) = match runs {
        Ok(runs) => (runs.data, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let row = |run: &WorkflowRun| {
        (run.id.to_string(), mark_of(&run.state.to_string()), Ago { at: run.created_at, now })
    };
    page(&WorkflowPage {
        frame: Frame::new(&visit, Section::Workflows, workflow.name.clone()),
        path: path(&workflow.name),
        changed: Moment(workflow.updated_at),
        document: pretty(workflow.definition.as_str()),
        versions: versions(&runs, workflow.version)
            .into_iter()
            .map(|(number, [runs, failed], last)| Version {
                number,
                is_stored: number == workflow.version,
                runs: count(runs),
                failed: count(failed),
                last: last.map(|at| Ago { at, now }),
            })
            .collect(),
        runs: runs.iter().take(LISTED).map(row).collect(),
        runs_wrong,
        all: format!("/workflows/runs?{query}"),
        may_submit: visit.may(Permission::SubmitTasks),
        workflow,
    })
}

type Counted = (i64, [i64; 2], Option<domain::time::Timestamp>);

/// Each version: its number, its runs and those that failed, and when one was started last. The stored one is there also without runs.
fn versions(runs: &[WorkflowRun], stored: i64) -> Vec<Counted> {
    let mut found = BTreeMap::<i64, Counted>::from([(stored, (stored, [0, 0], None))]);
    for run in runs {
        let Some(number) = run.version else { continue };
        let (_, [all, failed], last) = found.entry(number).or_insert((number, [0, 0], None));
        *all += 1;
        *failed += i64::from(matches!(run.state.to_string().as_str(), "failed" | "expired"));
        *last = (*last).max(Some(run.created_at));
    }
    found.into_values().rev().collect()
}

pub(super) fn path(name: &str) -> String {
    format!("/workflows/definitions/{}", in_path(name))
}

const LEVERS: [Lever; 2] = [
    Lever {
        word: "run",
        label: "Start a run",
        title: "Start a run of this workflow?",
        says: "A run of its present version starts at once. Each node is a task, billed as any other.",
        asks: Asks::Input,
        done: "started",
        ..PLAIN
    },
    Lever {
        word: "delete",
        label: "Delete",
        title: "Delete this workflow?",
        says: "No other run of it can be started. Runs that go on keep their definition. It cannot be taken back, and it is refused while a schedule names it.",
        is_danger: true,
        done: "deleted",
        ..PLAIN
    },
];

async fn on(visit: &Visit, lever: Lever) -> Result<On, Fault> {
    let workflow: Workflow =
        visit.get(format!("/v1/workflows/{}", visit.part_in_path("name"))).await?;
    let back = path(&workflow.name);
    let more =
        vec![format!("{}, version {}, {} nodes.", workflow.name, workflow.version, workflow.nodes)];
    Ok(On { name: workflow.name, action: format!("{back}/do/{}", lever.word), back, more })
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
    let done = if lever.word == "run" {
        match json(&visit) {
            Ok(input) => {
                let mut body = value!({"workflow": visit.part("name")});
                if let Some(input) = input {
                    body["input"] = input;
                }
                write(&visit, "/v1/workflow-runs".to_owned(), Some(body)).await
            }
            Err(wrong) => {
                let on = on(&visit, lever).await?;
                return asking(&visit, lever, on, Some(wrong));
            }
        }
    } else {
        let target = format!("/v1/workflows/{}", visit.part_in_path("name"));
        visit.act::<Value>(Method::Delete, target).await
    };
    match done {
        Ok(run) if lever.word == "run" => {
            Err(to(&run_path(run["id"].as_str().unwrap_or_default()), lever))
        }
        Ok(_) => Err(to("/workflows", lever)),
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 402 | 409 | 422) => {
            let on = on(&visit, lever).await?;
            asking(&visit, lever, on, Some(sentence(*problem)))
        }
        Err(fault) => Err(fault),
    }
}

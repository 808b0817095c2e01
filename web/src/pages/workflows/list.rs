//! `/workflows` and `/workflows/runs`: the definitions, and the runs.

use crate::fault::Fault;
use crate::form::with_query;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Filter, Listing, Tab, asked};
use crate::pages::tasks::list::moment;
use crate::visit::{Visit, in_path};
use crate::words::{Ago, mark_of};
use actix_web::HttpResponse;
use api_types::{Page, Workflow, WorkflowRun};
use domain::access::Permission;
use runtime::clock::wall;

/// Filters of the runs' URL.
const FILTERS: [&str; 5] = ["state", "workflow", "schedule", "created_from", "created_before"];

/// States of a run.
const STATES: [&str; 6] = ["running", "cancelling", "succeeded", "failed", "cancelled", "expired"];

fn tabs(visit: &Visit) -> Vec<Tab> {
    let here = visit.http.path();
    let all = [("/workflows", "Definitions"), ("/workflows/runs", "Runs")];
    all.into_iter().map(|(href, label)| (href.to_owned(), label, href == here)).collect()
}

/// Shows the definitions.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let workflows: Page<Workflow> = visit.get(asked(&visit, "/v1/workflows", &[])).await?;
    let now = wall();
    let columns = [("Workflow", false), ("Version", false), ("Nodes", false), ("Changed", true)];
    let empty =
        ("No workflows yet", "Make one here, or with: berth workflow put NAME workflow.yaml");
    let mut list =
        Listing::new(Frame::new(&visit, Section::Workflows, "Workflows"), &columns, empty);
    list.tabs = tabs(&visit);
    if visit.may(Permission::SubmitTasks) {
        list.acts = vec![("/workflows/new".to_owned(), "New workflow")];
    }
    let row = |workflow: &Workflow| {
        vec![
            Cell::Link(
                format!("/workflows/definitions/{}", in_path(&workflow.name)),
                workflow.name.clone(),
            ),
            Cell::Text(workflow.version.to_string()),
            Cell::Text(workflow.nodes.to_string()),
            Cell::Ago(Ago { at: workflow.updated_at, now }),
        ]
    };
    list.rows = workflows.data.iter().map(row).collect();
    list.paged(&visit, &[], workflows.next_cursor.map(|cursor| cursor.to_string())).show()
}

fn filters(visit: &Visit) -> Vec<Filter> {
    let field = |name, label, kind| Filter {
        name,
        label,
        kind,
        options: &[],
        value: visit.query.text(name).to_owned(),
    };
    vec![
        Filter { options: &STATES, ..field("state", "State", "select") },
        field("workflow", "Workflow", "text"),
        field("schedule", "Schedule", "text"),
        field("created_from", "Started from, UTC", "datetime-local"),
        field("created_before", "Started before, UTC", "datetime-local"),
    ]
}

/// Shows the runs.
pub(crate) async fn runs(visit: Visit) -> Result<HttpResponse, Fault> {
    let times: Vec<(&str, String)> = ["created_from", "created_before"]
        .into_iter()
        .filter_map(|name| Some((name, moment(visit.query.get(name)?))))
        .collect();
    let mut more = vec![("limit", "50"), ("cursor", visit.query.text("cursor"))];
    more.extend(times.iter().map(|(name, time)| (*name, time.as_str())));
    let target = with_query("/v1/workflow-runs", &visit.query.query(&FILTERS, &more));
    let runs: Page<WorkflowRun> = visit.get(target).await?;
    let now = wall();
    let columns = [("Run", false), ("State", false), ("Tasks", false), ("Started", true)];
    let empty = ("No runs", "Start one with: berth workflow run NAME");
    let mut list =
        Listing::new(Frame::new(&visit, Section::Workflows, "Workflow runs"), &columns, empty);
    list.tabs = tabs(&visit);
    list.filters = filters(&visit);
    let row = |run: &WorkflowRun| {
        let id = run.id.to_string();
        let short = id.get(id.len().saturating_sub(8)..).unwrap_or_default();
        let name = run.workflow.clone().unwrap_or_else(|| "from a batch".to_owned());
        let failed =
            if run.failed > 0 { format!(", {} unsuccessful", run.failed) } else { String::new() };
        vec![
            Cell::Link(format!("/workflows/runs/{id}"), format!("{name} …{short}")),
            Cell::Mark(mark_of(&run.state.to_string())),
            Cell::Text(format!("{} of {} ended{failed}", run.ended, run.tasks)),
            Cell::Ago(Ago { at: run.created_at, now }),
        ]
    };
    list.rows = runs.data.iter().map(row).collect();
    list.paged(&visit, &FILTERS, runs.next_cursor.map(|cursor| cursor.to_string())).show()
}

//! `GET /workflows/definitions/{name}`: a definition, and its runs.

use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::visit::Visit;
use crate::words::{Ago, Moment, mark_of};
use actix_web::HttpResponse;
use api_types::{Page, Workflow, WorkflowRun};
use askama::Template;
use runtime::clock::wall;

#[derive(Template)]
#[template(path = "workflows/workflow.html")]
struct WorkflowPage {
    frame: Frame,
    workflow: Workflow,
    changed: Moment,
    document: String,
    runs: Vec<(String, crate::words::Mark, Ago)>,
    runs_wrong: Option<String>,
    all: String,
}

/// Shows it.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let workflow: Workflow =
        visit.get(format!("/v1/workflows/{}", visit.part_in_path("name"))).await?;
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let query = query.append_pair("workflow", &workflow.name).finish();
    let runs: Result<Page<WorkflowRun>, String> =
        visit.try_get(format!("/v1/workflow-runs?limit=10&{query}")).await;
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
        changed: Moment(workflow.updated_at),
        document: serde_json::to_string_pretty(&serde_json::to_value(&workflow.definition)?)?,
        runs: runs.iter().map(row).collect(),
        runs_wrong,
        all: format!("/workflows/runs?{query}"),
        workflow,
    })
}

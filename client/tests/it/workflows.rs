//! Workflows, their runs, and what their nodes wait for.

use crate::server::{Line, Server, task};
use client::request::{NewSignal, NewWorkflowRun, WorkflowRerun};
use client::{CancelResult, Client, PageRequest, RawJson, RunFilter};
use domain::id::WorkflowRunId;
use domain::workflow::RunState;
use serde_json::json;

const RUN: &str = "run_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
/// With nodes that are not in the order of their names.
const DEFINITION: &str =
    r#"{"nodes":{"z":{"task":{"run":{"noop":{}}}},"a":{"after":["z"],"wait":{"approval":true}}}}"#;

fn client(server: &Server) -> Client {
    Client::builder(&server.url).api_key("berth_test_key").build().unwrap()
}

fn id() -> WorkflowRunId {
    RUN.parse().unwrap()
}

fn definition() -> RawJson {
    RawJson::parse(DEFINITION).unwrap()
}

fn workflow() -> String {
    let times = r#""created_at":"2030-01-31T12:00:00Z","updated_at":"2030-01-31T12:00:00Z""#;
    format!(
        r#"{{"name":"load","version":2,"nodes":2,"definition":{DEFINITION},{times},"updated_by":"q2mnv5c7xk3a"}}"#
    )
}

fn run(state: &str) -> String {
    json!({"id": RUN, "workflow": "load", "version": 2, "state": state, "tasks": 2, "ended": 1, "failed": 0, "labels": {},
        "created_at": "2030-01-31T12:00:00Z", "deadline_at": null, "finished_at": null, "reason": null, "rerun_of": null,
        "started_by": "q2mnv5c7xk3a", "a_field_of_tomorrow": 1})
    .to_string()
}

#[tokio::test]
async fn a_definition_is_sent_and_shown_in_its_own_order() {
    let deleted = Line::json(200, r#"{"name":"load","deleted":true}"#);
    let page = Line::json(200, format!(r#"{{"data":[{}],"next_cursor":null}}"#, workflow()));
    let of = || Line::json(200, workflow());
    let server = Server::with([of(), of(), page, deleted]).await;
    let client = client(&server);
    let put = client.put_workflow("load.daily", &definition(), Some(1)).await.unwrap();
    assert_eq!((put.version, put.nodes), (2, 2));
    assert_eq!(put.definition.as_str(), DEFINITION);
    client.workflow("load").await.unwrap();
    let page = client.workflows(&PageRequest { limit: Some(5), cursor: None }).await.unwrap();
    assert_eq!(page.data[0].name, "load");
    assert!(client.delete_workflow("load", None).await.unwrap().deleted);
    let requests = server.requests();
    let lines: Vec<&str> = requests.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "PUT /v1/workflows/load%2Edaily",
            "GET /v1/workflows/load",
            "GET /v1/workflows?limit=5",
            "DELETE /v1/workflows/load"
        ]
    );
    assert_eq!((requests[0].body.as_str(), &requests[0].key), (DEFINITION, &None));
}

#[tokio::test]
async fn a_run_is_of_a_name_or_of_a_definition() {
    let server = Server::with([(); 2].map(|()| Line::json(201, run("running")))).await;
    let client = client(&server);
    let named = NewWorkflowRun {
        workflow: Some("load".to_owned()),
        definition: None,
        input: Some(json!({"day": "2030-01-31"})),
    };
    let started = client.start_workflow_run(&named, "mine".parse().unwrap()).await.unwrap();
    assert_eq!((started.id, started.state.clone()), (id(), RunState::Running.into()));
    let inline = NewWorkflowRun { workflow: None, definition: Some(definition()), input: None };
    client.start_workflow_run(&inline, "other".parse().unwrap()).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /v1/workflow-runs");
    assert_eq!(requests[0].key.as_deref(), Some("mine"));
    assert_eq!(requests[0].body, r#"{"workflow":"load","input":{"day":"2030-01-31"}}"#);
    assert_eq!(requests[1].body, format!(r#"{{"definition":{DEFINITION}}}"#));
}

#[tokio::test]
async fn runs_are_listed_shown_cancelled_and_run_again() {
    let node = json!({"name": "z", "task": "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071", "state": "running", "layer": 0,
        "after": [{"node": "y", "on": "failed"}], "join": "any", "waits_for": {"signal": "order-7"},
        "items": [{"task": "task_0190a6f3c1d27a3e8b1f0c2d4e5f6072", "state": "of_tomorrow"}], "taken_over": false, "attempts": 1,
        "started_at": null, "finished_at": null, "reason": null});
    let server = Server::with([
        Line::json(200, format!(r#"{{"data":[{}],"next_cursor":null}}"#, run("failed"))),
        Line::json(200, run("failed")),
        Line::json(200, format!(r#"{{"run":{},"nodes":[{node}]}}"#, run("running"))),
        Line::json(202, format!(r#"{{"run":{},"cancel":"requested"}}"#, run("cancelling"))),
        Line::json(201, run("running")),
    ])
    .await;
    let client = client(&server);
    let filter = RunFilter {
        states: vec![RunState::Failed, RunState::Expired],
        workflow: Some("load".to_owned()),
        schedule: Some("nightly".parse().unwrap()),
        created_from: Some("2030-01-01T00:00:00Z".parse().unwrap()),
        created_before: None,
    };
    let page = client.workflow_runs(&filter, &PageRequest::default()).await.unwrap();
    assert_eq!(page.data[0].id, id());
    client.workflow_run(id()).await.unwrap();
    let graph = client.workflow_graph(id()).await.unwrap();
    assert_eq!(graph.nodes[0].after[0].node, "y");
    assert_eq!(graph.nodes[0].items.as_ref().unwrap().len(), 1);
    let cancelled = client.cancel_workflow_run(id()).await.unwrap();
    assert!(cancelled.cancel == CancelResult::Requested);
    let rerun = WorkflowRerun { nodes: Some(vec!["z".to_owned()]), below: Some(true) };
    client.rerun_workflow_run(id(), &rerun, "mine".parse().unwrap()).await.unwrap();
    let requests = server.requests();
    let sent: Vec<_> = requests.iter().map(|r| (r.line.as_str(), r.body.as_str())).collect();
    let path = format!("/v1/workflow-runs/{RUN}");
    assert_eq!(
        sent,
        [
            (
                "GET /v1/workflow-runs?state=failed%2Cexpired&workflow=load&schedule=nightly&created_from=2030-01-01T00%3A00%3A00Z",
                "",
            ),
            (format!("GET {path}").as_str(), ""),
            (format!("GET {path}/graph").as_str(), ""),
            (format!("POST {path}/cancel").as_str(), ""),
            (format!("POST {path}/rerun").as_str(), r#"{"nodes":["z"],"below":true}"#),
        ]
    );
    assert!(requests[3].key.is_some());
    assert_eq!(requests[4].key.as_deref(), Some("mine"));
}

#[tokio::test]
async fn signals_and_decisions_ask_for_their_routes() {
    let signal = r#"{"key":"order/7","nodes":2,"expires_at":"2030-01-31T12:00:00Z"}"#;
    let decided = || Line::json(200, task("succeeded"));
    let server = Server::with([Line::json(200, signal), decided(), decided()]).await;
    let client = client(&server);
    let sent = NewSignal {
        payload: Some(json!({"paid": true})),
        keep: Some(std::time::Duration::from_secs(3600).into()),
    };
    assert_eq!(client.send_signal("order/7", &sent).await.unwrap().nodes, 2);
    let id = "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071".parse().unwrap();
    client.approve(id, Some("checked")).await.unwrap();
    client.reject(id, None).await.unwrap();
    let requests = server.requests();
    let sent: Vec<_> = requests.iter().map(|r| (r.line.as_str(), r.body.as_str())).collect();
    let path = "/v1/tasks/task_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
    assert_eq!(
        sent,
        [
            ("POST /v1/signals/order%2F7", r#"{"payload":{"paid":true},"keep":"1h"}"#),
            (format!("POST {path}/approve").as_str(), r#"{"note":"checked"}"#),
            (format!("POST {path}/reject").as_str(), "{}"),
        ]
    );
    assert!(requests.iter().all(|request| request.key.is_some()));
}

//! Schedules that start workflow runs, over HTTP.

use crate::client::Answer;
use crate::server::{ALL_SCOPES, Server};
use serde_json::{Value, json};

/// Two nodes, of which the second reads `/day` of the input.
fn workflow() -> Value {
    let reads = json!({"command": {"argv": ["true"], "env": {"DAY": {"$input": "/day"}}}});
    json!({"nodes": {"a": {"task": {"run": {"noop": {}}}}, "b": {"after": ["a"], "task": {"run": reads}}}})
}

fn schedule(name: &str, input: Option<Value>) -> Value {
    let mut workflow = json!({"name": name});
    if let Some(input) = input {
        workflow["input"] = input;
    }
    json!({"timing": {"specs": [{"cron": "0 3 * * *"}]}, "workflow": workflow})
}

async fn put(server: &Server, path: &str, body: &Value) -> Answer {
    server.put_as(&server.key, path, &[], body.to_string()).await
}

async fn delete(server: &Server, path: &str) -> Answer {
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str())];
    crate::client::request(server.addr, "DELETE", path, &headers, b"").await
}

#[tokio::test]
async fn a_schedule_names_a_workflow_and_is_shown_and_stored_again_as_it_is() {
    let server = Server::start().await;
    let unknown = put(&server, "/v1/schedules/s", &schedule("nightly", None)).await;
    assert_eq!((unknown.status, unknown.pointers()), (422, vec!["/workflow/name".to_owned()]));
    assert_eq!(put(&server, "/v1/workflows/nightly", &workflow()).await.status, 201);
    let missing =
        put(&server, "/v1/schedules/s", &schedule("nightly", Some(json!({"n": 1})))).await;
    assert_eq!((missing.status, missing.pointers()), (422, vec!["/workflow/input/day".to_owned()]));
    let mut both = schedule("nightly", None);
    both["task"] = json!({"run": {"noop": {}}});
    assert_eq!(put(&server, "/v1/schedules/s", &both).await.pointers(), ["/workflow"]);
    let input = json!({"day": "monday", "n": 1.5, "big": 9007199254740993_u64});
    let body = schedule("nightly", Some(input.clone()));
    let made = put(&server, "/v1/schedules/s", &body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let shown = made.json();
    assert_eq!(shown["workflow"], json!({"name": "nightly", "input": input}));
    assert_eq!((shown.get("task"), &shown["recent_runs"]), (None, &json!([])));
    let again = put(&server, "/v1/schedules/s", &body).await;
    assert_eq!((again.status, &again.json()["version"]), (200, &json!(1)), "unchanged");
    let stale =
        server.put_as(&server.key, "/v1/schedules/s", &[("If-Match", "\"7\"")], body.to_string());
    assert_eq!(stale.await.code(), "version_mismatch");
    let listed = server.get("/v1/schedules").await.json();
    assert_eq!(listed["data"][0]["workflow"]["name"], "nightly");
    let preview = server.get("/v1/schedules/s/preview?count=2").await;
    assert_eq!(preview.json()["due"].as_array().unwrap().len(), 2);
    let paused = server.post("/v1/schedules/s/pause", "{}").await;
    assert_eq!(paused.json()["state"], "paused");
    // Another tenant's workflow of this name is none of its own.
    let other = server.new_tenant("second").await;
    let other = server.new_key(other, &ALL_SCOPES).await;
    let foreign = server.put_as(&other, "/v1/schedules/s", &[], body.to_string()).await;
    assert_eq!(foreign.pointers(), ["/workflow/name"]);
    // What a schedule names is kept.
    let kept = delete(&server, "/v1/workflows/nightly").await;
    assert_eq!((kept.status, kept.code()), (409, "conflict".to_owned()));
    assert!(kept.json()["detail"].as_str().unwrap().contains("`s`"), "{kept:?}");
    let audited = server.get("/v1/audit?action=schedule.put").await.json();
    let text = audited.to_string();
    assert!(text.contains("nightly") && !text.contains("monday"), "{text}");
    assert_eq!(delete(&server, "/v1/schedules/s").await.status, 200);
    assert_eq!(delete(&server, "/v1/workflows/nightly").await.status, 200);
}

#[tokio::test]
async fn a_trigger_starts_one_run_for_each_idempotency_key_and_names_it() {
    let server = Server::start().await;
    put(&server, "/v1/workflows/nightly", &workflow()).await;
    let made =
        put(&server, "/v1/schedules/s", &schedule("nightly", Some(json!({"day": "x"})))).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let key = [("Idempotency-Key", "k")];
    let fired = server.post_as(&server.key, "/v1/schedules/s/trigger", &key, "").await;
    assert_eq!(fired.status, 201, "{fired:?}");
    let fire = fired.json();
    let again = server.post_as(&server.key, "/v1/schedules/s/trigger", &key, "").await;
    assert_eq!((again.status, again.json()), (201, fire.clone()));
    let run = fire["workflow_run"].as_str().unwrap();
    assert_eq!(fire["task"], Value::Null);
    let shown = server.get(&format!("/v1/workflow-runs/{run}")).await.json();
    assert_eq!((&shown["schedule"], &shown["schedule_name"]), (&json!(id), &json!("s")));
    assert_eq!((&shown["due_at"], &shown["workflow"]), (&fire["due_at"], &json!("nightly")));
    assert_eq!(shown["input"], json!({"day": "x"}));
    let of_schedule = server.get("/v1/schedules/s").await.json();
    assert_eq!(
        (&of_schedule["recent_runs"], &of_schedule["recent_tasks"]),
        (&json!([run]), &json!([]))
    );
    let fires = server.get("/v1/schedules/s/fires").await.json();
    assert_eq!(fires["data"], json!([fire]));
    let loose = server.run().await;
    for query in ["schedule=s".to_owned(), format!("schedule={id}")] {
        let list = server.get(&format!("/v1/workflow-runs?{query}")).await.json();
        assert_eq!(
            (list["data"].as_array().unwrap().len(), &list["data"][0]["id"]),
            (1, &json!(run))
        );
    }
    assert_eq!(server.get("/v1/workflow-runs?schedule=none").await.code(), "not_found");
    let tasks = server.get("/v1/tasks?schedule=s").await.json();
    let tasks = tasks["data"].as_array().unwrap();
    assert_eq!(tasks.len(), 2, "its tasks, and not those of {loose}");
    assert!(
        tasks.iter().all(|task| task["due_at"] == fire["due_at"] && task["workflow_run"] == run)
    );
    // A version that cannot run with the input any more.
    let stricter = workflow().to_string().replace("/day", "/night");
    let stricter: Value = serde_json::from_str(&stricter).unwrap();
    assert_eq!(put(&server, "/v1/workflows/nightly", &stricter).await.status, 200);
    let refused = server.post("/v1/schedules/s/trigger", "").await;
    assert_eq!((refused.status, refused.code()), (409, "conflict".to_owned()));
    assert!(refused.json()["detail"].as_str().unwrap().contains("/night"), "{refused:?}");
    let body = json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-03T00:00:00Z"});
    let refused = server.post("/v1/schedules/s/backfill", body.to_string()).await;
    assert_eq!((refused.status, refused.code()), (409, "conflict".to_owned()));
    put(&server, "/v1/workflows/nightly", &workflow()).await;
    let plan = server.post("/v1/schedules/s/backfill", body.to_string()).await;
    assert_eq!((plan.status, &plan.json()["to_fire"]), (202, &json!(2)), "{plan:?}");
}

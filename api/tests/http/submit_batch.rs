//! Batches: each task is judged by itself.

use crate::server::Server;
use serde_json::{Value, json};

#[tokio::test]
async fn mistakes_of_one_task_do_not_fail_the_others() {
    let server = Server::start().await;
    let body = json!({"tasks": [
        {"run": {"noop": {}}},
        {"run": {"command": {"argv": []}}, "name": ""},
        {"run": {"noop": {}}, "delay": "1h"},
        {"run": {"noop": {"nap": 1}}},
        7,
        {"run": {"noop": {}}, "unique_key": "u"},
        {"run": {"noop": {}}, "unique_key": "u"},
    ]});
    let answer = server.post("/v1/tasks/batch", body.to_string()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    assert_eq!((&json["accepted"], &json["rejected"]), (&json!(4), &json!(3)));
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 7);
    for (index, result) in results.iter().enumerate() {
        assert_eq!(result["index"], index);
        assert_ne!(result.get("task").is_some(), result.get("error").is_some());
    }
    assert_eq!(results[0]["task"]["state"], "ready");
    assert_eq!(results[2]["task"]["state"], "scheduled");
    let pointers = |at: usize| -> Vec<&str> {
        let errors = results[at]["error"]["errors"].as_array().unwrap();
        errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect()
    };
    assert_eq!(pointers(1), ["/tasks/1/name", "/tasks/1/run/command/argv"]);
    assert_eq!(pointers(3), ["/tasks/3/run/noop/nap"]);
    assert_eq!(pointers(4), ["/tasks/4"]);
    assert_eq!(results[4]["error"]["code"], "validation_failed");
    assert_eq!(results[5]["task"]["id"], results[6]["task"]["id"]);
    assert_eq!(results[6]["task"]["existing"], true);
    assert_eq!(server.db.sql("select count(*) from task").await.unwrap().trim(), "3");
}

#[tokio::test]
async fn whole_tasks_are_returned_when_asked_for() {
    let server = Server::start().await;
    let body = r#"{"tasks":[{"run":{"noop":{}},"name":"a"}]}"#;
    let json = server.post("/v1/tasks/batch?return=full", body).await.json();
    let task = &json["results"][0]["task"];
    let read = server.get(&format!("/v1/tasks/{}", task["id"].as_str().unwrap())).await.json();
    assert_eq!(*task, read);
    let answer = server.post("/v1/tasks/batch?return=everything", body).await;
    assert_eq!(answer.pointers(), ["query:return"]);
}

#[tokio::test]
async fn a_batch_has_1_to_max_batch_tasks() {
    let server = Server::start_with(&[("BERTH_API__MAX_BATCH_TASKS", "50")]).await;
    let batch = |n: usize| json!({"tasks": vec![json!({"run": {"noop": {}}}); n]}).to_string();
    for wrong in [0, 51] {
        let answer = server.post("/v1/tasks/batch", batch(wrong)).await;
        assert_eq!((answer.status, answer.pointers()), (422, vec!["/tasks".to_owned()]));
    }
    assert_eq!(server.stored().await, 0);
    assert_eq!(server.post("/v1/tasks/batch", batch(50)).await.json()["accepted"], 50);
}

#[tokio::test]
async fn ten_thousand_tasks_go_in_at_once() {
    let server = Server::start().await;
    let body = json!({"tasks": vec![json!({"run": {"noop": {}}}); 10_000]}).to_string();
    let answer = server.post("/v1/tasks/batch", body).await;
    assert_eq!(answer.json()["accepted"], 10_000, "{}", answer.status);
    assert_eq!(server.db.sql("select count(*) from task").await.unwrap().trim(), "10000");
}

#[tokio::test]
async fn a_body_that_is_no_batch_is_refused_as_a_whole() {
    let server = Server::start().await;
    for (body, status, pointer) in [
        (r#"{"tasks":{}}"#, 422, Some("/tasks")),
        (r#"{"tasks":[],"more":1}"#, 422, Some("/more")),
        (r#"{}"#, 422, Some("/tasks")),
        (r#"{"tasks":[],"tasks":[]}"#, 422, Some("/tasks")),
        (r#"[]"#, 422, None),
        (r#"{"tasks":[}"#, 400, None),
        (r#"{"tasks":[{"run":{"noop":{}}},]}"#, 400, None),
    ] {
        let answer = server.post("/v1/tasks/batch", body).await;
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        if let Some(pointer) = pointer {
            assert_eq!(answer.pointers(), [pointer], "{body}");
        }
    }
    assert_eq!(server.stored().await, 0);
}

#[tokio::test]
async fn a_single_task_over_its_limit_is_refused_within_a_batch() {
    let server = Server::start_with(&[("BERTH_API__MAX_TASK_BYTES", "1024")]).await;
    let big = json!({"run": {"command": {"argv": ["x".repeat(2000)]}}});
    let json: Value = server
        .post("/v1/tasks/batch", json!({"tasks": [big, {"run": {"noop": {}}}]}).to_string())
        .await
        .json();
    assert_eq!(json["results"][0]["error"]["code"], "payload_too_large");
    assert_eq!(json["accepted"], 1);
}

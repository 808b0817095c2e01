//! Results: the value alone, as it was written, and why there is none.

use crate::server::{ALL_SCOPES, Server};
use client::{Client, ClientError, ErrorCode};
use domain::id::TaskId;

/// Status and code of a refusal, and what it says.
async fn refusal(server: &Server, key: &str, id: &str) -> (u16, String, String) {
    let answer = server.get_as(key, &format!("/v1/tasks/{id}/result")).await;
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{answer:?}");
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    (answer.status, answer.code(), detail)
}

#[tokio::test]
async fn the_value_is_the_whole_body_to_the_byte() {
    let server = Server::start().await;
    let longest = format!("\"{}\"", "é".repeat(32_767));
    for json in [
        "null",
        "1e999999",
        "\"\\u0000\\ud800\"",
        "{ \"a\": 1, \"a\": [2.50] }",
        "\"<script>alert(1)</script>\"",
        longest.as_str(),
    ] {
        let id = server.ended("succeeded", Some(json)).await;
        let answer = server.get(&format!("/v1/tasks/{id}/result")).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
        assert_eq!(answer.body, json.as_bytes(), "{json}");
    }
}

#[tokio::test]
async fn why_there_is_none_is_told() {
    let server = Server::start().await;
    let key = server.key.clone();
    let waits = server.noop().await;
    let text = "The task is ready; read its result once it has ended.".to_owned();
    assert_eq!(refusal(&server, &key, &waits).await, (409, "not_ended".to_owned(), text));
    for state in ["succeeded", "failed", "cancelled", "killed"] {
        let id = server.ended(state, None).await;
        let text = format!("The task ended {state} without a result.");
        assert_eq!(refusal(&server, &key, &id).await, (404, "no_result".to_owned(), text));
    }
}

#[tokio::test]
async fn another_tenants_result_and_one_that_the_plan_no_longer_shows_are_not_found() {
    let server = Server::start().await;
    let id = server.ended("succeeded", Some("1")).await;
    let other = server.new_tenant("second").await;
    let theirs = server.new_key(other, &ALL_SCOPES).await;
    for (key, id) in [
        (&theirs, id.clone()),
        (&server.key, TaskId::fresh().to_string()),
        (&server.key, "task_1".to_owned()),
    ] {
        let text = format!("There is no task `{id}`.");
        assert_eq!(refusal(&server, key, &id).await, (404, "not_found".to_owned(), text));
    }
    let submits_only = server.new_key(server.tenant, &["submit"]).await;
    assert_eq!(refusal(&server, &submits_only, &id).await.0, 403);
    let reads_only = server.new_key(server.tenant, &["read"]).await;
    let answer = server.get_as(&reads_only, &format!("/v1/tasks/{id}/result")).await;
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"1"[..]));
    let days_ago = "update task_history set finished_at = now() - interval '3 days';
        update task_result set finished_at = (select finished_at from task_history);
        update plan set limits = limits || '{\"retention_days\": 1}'";
    server.db.sql(days_ago).await.unwrap();
    let fresh = server.new_key(server.tenant, &["read"]).await;
    testkit::poll::until(
        "the plan is read again",
        std::time::Duration::from_secs(20),
        async || server.get_as(&fresh, &format!("/v1/tasks/{id}/result")).await.status == 404,
    )
    .await
    .unwrap();
    assert_eq!(refusal(&server, &fresh, &id).await.1, "not_found");
}

#[tokio::test]
async fn the_client_has_the_value_as_it_was_written() {
    let server = Server::start().await;
    let client = Client::builder(format!("http://{}", server.addr))
        .api_key(server.key.clone())
        .build()
        .unwrap();
    let json = "{\"lone\":\"\\ud800\",\"large\":1e999}";
    let id: TaskId = server.ended("succeeded", Some(json)).await.parse().unwrap();
    let result = client.result(id).await.unwrap();
    assert_eq!((result.get(), result.json()), (json, json.as_bytes()));
    let waits: TaskId = server.noop().await.parse().unwrap();
    match client.result(waits).await {
        Err(ClientError::Api(problem)) => {
            assert!(problem.status == 409 && problem.is(ErrorCode::NotEnded), "{problem:?}");
        }
        other => panic!("{other:?}"),
    }
}

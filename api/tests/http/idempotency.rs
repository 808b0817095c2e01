//! The same key and request: the same answer. The same key and another request: refused.

use crate::server::{ALL_SCOPES, NOOP, Server};
use futures::future::join_all;
use serde_json::json;
use std::collections::HashSet;

const OTHER: &str = r#"{"run":{"noop":{}},"name":"other"}"#;

#[tokio::test]
async fn a_hundred_posts_of_one_key_make_one_task() {
    let server = Server::start().await;
    let posts = (0..100).map(|_| server.post_with("/v1/tasks", &[("Idempotency-Key", "k1")], NOOP));
    let answers = join_all(posts).await;
    let bodies: HashSet<_> = answers.iter().map(|answer| answer.body.clone()).collect();
    assert_eq!(bodies.len(), 1, "the same answer, byte for byte");
    assert!(answers.iter().all(|answer| answer.status == 201));
    let first =
        answers.iter().filter(|answer| answer.header("idempotency-replayed").is_none()).count();
    assert_eq!(first, 1);
    assert_eq!(server.db.sql("select count(*) from task").await.unwrap().trim(), "1");
}

#[tokio::test]
async fn a_replay_is_the_first_answer_even_after_the_task_went_on() {
    let server = Server::start().await;
    let body = r#"{"run":{"noop":{}},"delay":"1h","labels":{"a":"1"}}"#;
    let post = || server.post_with("/v1/tasks", &[("Idempotency-Key", "k")], body);
    let first = post().await;
    let target = format!("/v1/tasks/{}/cancel", first.json()["id"].as_str().unwrap());
    server.post(&target, b"").await;
    let again = post().await;
    assert_eq!((again.status, again.json()), (first.status, first.json()));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.header("location"), first.header("location"));
}

#[tokio::test]
async fn the_same_key_with_another_body_is_refused_also_in_one_group() {
    let server = Server::start_with(&[("BERTH_API__SUBMIT_WRITERS", "1")]).await;
    let posts = (0..40).map(|n| {
        let body = if n % 2 == 0 { NOOP } else { OTHER };
        server.post_with("/v1/tasks", &[("Idempotency-Key", "k")], body)
    });
    let answers = join_all(posts).await;
    let taken: Vec<usize> = (0..40).filter(|n| answers[*n].status == 201).collect();
    assert_eq!(taken.len(), 20, "{taken:?}");
    assert!(taken.iter().all(|n| n % 2 == taken[0] % 2), "one body won");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!((answer.status, answer.code().as_str()), (422, "idempotency_key_reuse"));
        assert_eq!(answer.pointers(), ["header:Idempotency-Key"]);
    }
    assert_eq!(server.db.sql("select count(*) from task").await.unwrap().trim(), "1");
}

#[tokio::test]
async fn keys_are_apart_by_tenant_and_route() {
    let server = Server::start().await;
    let other = server.new_tenant("second").await;
    let key = server.new_key(other, &ALL_SCOPES).await;
    let headers = [("Idempotency-Key", "k")];
    let mine = server.post_with("/v1/tasks", &headers, NOOP).await;
    let theirs = server.post_as(&key, "/v1/tasks", &headers, OTHER).await;
    assert_eq!((mine.status, theirs.status), (201, 201));
    assert_ne!(mine.json()["id"], theirs.json()["id"]);
    let batch = json!({"tasks": [{"run": {"noop": {}}}]}).to_string();
    assert_eq!(server.post_with("/v1/tasks/batch", &headers, batch).await.status, 200);
}

#[tokio::test]
async fn a_key_of_a_refused_request_is_not_used_up() {
    let server = Server::start().await;
    let headers = [("Idempotency-Key", "k")];
    assert_eq!(server.post_with("/v1/tasks", &headers, r#"{"run":{}}"#).await.status, 422);
    assert_eq!(server.post_with("/v1/tasks", &headers, NOOP).await.status, 201);
}

#[tokio::test]
async fn a_key_that_is_none_is_refused() {
    let server = Server::start().await;
    let (long, longest) = ("x".repeat(201), "x".repeat(200));
    for bad in ["", "a b", "ü", "a\tb", long.as_str()] {
        let answer = server.post_with("/v1/tasks", &[("Idempotency-Key", bad)], NOOP).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_parameter"), "{bad}");
        assert_eq!(answer.pointers(), ["header:Idempotency-Key"]);
    }
    let twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")];
    assert_eq!(server.post_with("/v1/tasks", &twice, NOOP).await.status, 400);
    assert_eq!(server.stored().await, 0);
    assert_eq!(
        server.post_with("/v1/tasks", &[("Idempotency-Key", &longest)], NOOP).await.status,
        201
    );
}

#[tokio::test]
async fn a_batch_is_replayed_byte_for_byte() {
    let server = Server::start().await;
    let body = json!({"tasks": [{"run": {"noop": {}}}, {"run": {}}, {"run": {"noop": {}}, "unique_key": "u"}]}).to_string();
    let post = |target: &'static str, body: String| {
        let server = &server;
        async move { server.post_with(target, &[("Idempotency-Key", "k")], body).await }
    };
    let answers = join_all((0..10).map(|_| post("/v1/tasks/batch", body.clone()))).await;
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body == answers[0].body));
    assert_eq!(answers.iter().filter(|a| a.header("idempotency-replayed").is_none()).count(), 1);
    assert_eq!(server.db.sql("select count(*) from task").await.unwrap().trim(), "2");
    assert_eq!(
        post("/v1/tasks/batch?return=full", body.clone()).await.code(),
        "idempotency_key_reuse"
    );
    assert_eq!(
        post("/v1/tasks/batch", body.replace("noop", "noop ")).await.code(),
        "idempotency_key_reuse"
    );
}

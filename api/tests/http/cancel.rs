//! A cancel says what it did, and may be repeated.

use crate::server::{NOOP, Server};

/// Puts a task into `running`, as a resource manager would.
async fn run(server: &Server, id: &str) {
    let hex = id.trim_start_matches("task_");
    server
        .db
        .sql(&format!(
            "update task set state = 'running', attempt = 1, session_id = gen_random_uuid(), assignment = 1, placed_at = now(),
                wake_at = now() + interval '1 minute'
             where replace(id::text, '-', '') = '{hex}'"
        ))
        .await
        .unwrap();
}

#[tokio::test]
async fn the_answer_says_what_was_done() {
    let server = Server::start().await;
    let (waiting, running) = (server.noop().await, server.noop().await);
    run(&server, &running).await;
    for (id, status, done, state) in [
        (&waiting, 200, "cancelled", "cancelled"),
        (&waiting, 200, "already_ended", "cancelled"),
        (&running, 202, "requested", "cancelling"),
        (&running, 200, "already_requested", "cancelling"),
    ] {
        let answer = server.post(&format!("/v1/tasks/{id}/cancel"), b"").await;
        assert_eq!(answer.status, status, "{answer:?}");
        let json = answer.json();
        assert_eq!((json["cancel"].as_str(), json["state"].as_str()), (Some(done), Some(state)));
        assert_eq!(json["id"].as_str(), Some(id.as_str()));
    }
}

#[tokio::test]
async fn a_repeated_cancel_with_a_key_gets_the_first_answer() {
    let server = Server::start().await;
    let id = server.noop().await;
    let target = format!("/v1/tasks/{id}/cancel");
    let headers = [("Idempotency-Key", "k")];
    let first = server.post_with(&target, &headers, b"").await;
    let again = server.post_with(&target, &headers, b"").await;
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    assert_eq!(again.json()["cancel"], "cancelled");
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    let other_body = server.post_with(&target, &headers, b"{}").await;
    assert_eq!(other_body.code(), "idempotency_key_reuse");
    let other = server.noop().await;
    let other_task = server.post_with(&format!("/v1/tasks/{other}/cancel"), &headers, b"").await;
    assert_eq!(other_task.json()["cancel"], "cancelled", "another task is another request");
}

#[tokio::test]
async fn a_cancel_takes_nothing_or_an_empty_object() {
    let server = Server::start().await;
    for (body, status) in
        [("", 200), ("{}", 200), (r#"{"reason":"x"}"#, 422), ("[", 400), (NOOP, 422)]
    {
        let id = server.noop().await;
        let answer = server.post(&format!("/v1/tasks/{id}/cancel"), body).await;
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        if status != 200 {
            assert_eq!(server.get(&format!("/v1/tasks/{id}")).await.json()["state"], "ready");
        }
    }
    let id = server.noop().await;
    let answer = server.post(&format!("/v1/tasks/{id}/cancel"), " ".repeat(2000)).await;
    assert_eq!(answer.code(), "payload_too_large");
}

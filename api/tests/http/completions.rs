//! `POST /v1/tasks/{id}/complete`: the token is the credential, and what is wrong with a completion is told before anything is looked up.

use crate::client::{Answer, request};
use crate::server::Server;
use domain::id::{SessionId, TaskId};
use domain::task::{CompletionToken, LeaseKey, MAX_RESULT_BYTES};
use serde_json::{Value, json};

/// A task whose call was taken on, and its token.
async fn called(server: &Server) -> (String, LeaseKey) {
    let id = server.noop().await;
    let task: TaskId = id.parse().unwrap();
    let lease = LeaseKey { tenant: server.tenant, task, attempt: 1, session: SessionId::fresh() };
    let (task, session) = (task.uuid(), lease.session.uuid());
    let sql = format!(
        "update task set state = 'running', attempt = 1, assignment = 1, placed_at = now(), wake_at = now() + interval '1 hour',
            session_id = '00000000-0000-0000-0000-000000000000', called = row('{session}', 5, 202, 0, 0)::task_call where id = '{task}'"
    );
    server.db.sql(&sql).await.unwrap();
    (id, lease)
}

async fn complete(server: &Server, id: &str, body: &Value) -> Answer {
    // Without a key.
    let (target, body) = (format!("/v1/tasks/{id}/complete"), body.to_string());
    let json = [("Content-Type", "application/json")];
    request(server.addr, "POST", &target, &json, body.as_bytes()).await
}

#[tokio::test]
async fn a_token_completes_its_attempt_and_no_other_credential_does() {
    let server = Server::start().await;
    let (id, lease) = called(&server).await;
    let token = CompletionToken::of(&lease).to_string();
    let (_, other) = called(&server).await;
    let cut = &token[..token.len() - 1];
    for wrong in [
        CompletionToken::of(&other).to_string(),
        CompletionToken::of(&LeaseKey { attempt: 2, ..lease }).to_string(),
        CompletionToken::of(&LeaseKey { session: SessionId::CALLED, ..lease }).to_string(),
        cut.to_owned(),
        server.key.clone(),
        String::new(),
    ] {
        let answer = complete(&server, &id, &json!({"token": wrong, "outcome": "succeeded"})).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "unauthenticated"), "{wrong}");
    }
    let body = json!({"token": token, "outcome": "succeeded", "result": null});
    let answer = complete(&server, &id, &body).await;
    let done = json!({"id": id, "attempt": 1, "outcome": "succeeded", "repeated": false});
    assert_eq!((answer.status, answer.json()), (200, done), "{answer:?}");
    assert_eq!(complete(&server, &id, &body).await.json()["repeated"], true);
    let failed = json!({"token": token, "outcome": "failed"});
    assert_eq!(complete(&server, &id, &failed).await.code(), "conflict");
    let task = server.get(&format!("/v1/tasks/{id}")).await.json();
    assert_eq!((&task["state"], &task["exit_code"]), (&json!("succeeded"), &json!(202)), "{task}");
    for id in ["task_1", "nothing"] {
        assert_eq!(complete(&server, id, &body).await.status, 404, "{id}");
    }
}

#[tokio::test]
async fn a_malformed_completion_is_refused_with_a_pointer_and_ends_nothing() {
    let server = Server::start().await;
    let (id, lease) = called(&server).await;
    let token = CompletionToken::of(&lease).to_string();
    let of = |fields: Value| {
        let mut body = json!({"token": token, "outcome": "failed"});
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        body
    };
    let long = "x".repeat(1001);
    let large = "x".repeat(MAX_RESULT_BYTES - 1);
    for (fields, pointer) in [
        (json!({"result": 1}), "/result"),
        (json!({"outcome": "succeeded", "result": large}), "/result"),
        (json!({"outcome": "succeeded", "reason": "why"}), "/reason"),
        (json!({"reason": ""}), "/reason"),
        (json!({"reason": long}), "/reason"),
        (json!({"retry_after": "2h"}), "/retry_after"),
        (json!({"retry_after": "soon"}), "/retry_after"),
        (json!({"outcome": "aborted", "retry_after": "1s"}), "/retry_after"),
    ] {
        let answer = complete(&server, &id, &of(fields.clone())).await;
        assert_eq!((answer.status, answer.pointers()), (422, vec![pointer.to_owned()]), "{fields}");
    }
    for body in
        [json!({}), json!({"token": token}), of(json!({"outcome": "lost"})), of(json!({"x": 1}))]
    {
        let status = complete(&server, &id, &body).await.status;
        assert!([400, 422].contains(&status), "{body}: {status}");
    }
    let state = server.get(&format!("/v1/tasks/{id}")).await.json()["state"].clone();
    assert_eq!(state, "running");
}

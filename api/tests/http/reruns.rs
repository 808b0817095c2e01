//! A rerun is a new task that is what the first one was, but for what its body changes, and points back to it.

use crate::client::Answer;
use crate::server::Server;
use serde_json::{Value, json};

const FULL: &str = r#"{"name":"report","tier":"regular","run":{"command":{"argv":["bash","-c","echo $A"],"env":{"A":"1","B":"2"},"stdin":"in"}},
    "delay":"1h","delay_tolerance":"7m","execution_cap":"90s","expire_if_late":true,"priority":-3,"flexible":true,"max_attempts":5,
    "retry":{"backoff":"constant","initial":"3s"},"delivery":"at_most_once","concurrency_key":"db","labels":{"team":"media"}}"#;

/// What is the same in a rerun that changes nothing.
const SAME: [&str; 15] = [
    "name",
    "tier",
    "resources",
    "run",
    "delay_tolerance",
    "execution_cap",
    "expire_if_late",
    "priority",
    "flexible",
    "max_attempts",
    "retry",
    "delivery",
    "concurrency_key",
    "labels",
    "pool",
];

async fn submitted(server: &Server, body: &str) -> Value {
    let answer = server.post("/v1/tasks", body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()
}

fn id(task: &Value) -> &str {
    task["id"].as_str().unwrap()
}

async fn rerun(server: &Server, task: &Value, body: impl AsRef<[u8]>) -> Answer {
    server.post(&format!("/v1/tasks/{}/rerun", id(task)), body).await
}

#[tokio::test]
async fn a_rerun_is_the_first_task_again_due_at_once_and_points_back() {
    let server = Server::start().await;
    for body in [FULL, r#"{"run":{"noop":{}},"resources":{"cpu_millis":10,"memory_mib":20}}"#] {
        let first = submitted(&server, body).await;
        assert_eq!(first["rerun_of"], Value::Null);
        server.post(&format!("/v1/tasks/{}/cancel", id(&first)), b"").await;
        for body in ["", "{}"] {
            let answer = rerun(&server, &first, body).await;
            assert_eq!(answer.status, 201, "{answer:?}");
            let again = answer.json();
            for field in SAME {
                assert_eq!(again[field], first[field], "{field}");
            }
            assert_eq!(again["rerun_of"], first["id"]);
            assert_eq!((&again["state"], &again["attempts"]), (&json!("ready"), &json!(0)));
            assert_ne!(again["id"], first["id"]);
            let location = format!("/v1/tasks/{}", id(&again));
            assert_eq!(answer.header("location"), Some(location.as_str()));
            assert_eq!(
                server.get(&location).await.json()["rerun_of"],
                first["id"],
                "as it is stored"
            );
            let listed = server.get("/v1/tasks?state=ready&limit=1").await.json();
            assert_eq!(listed["data"][0]["rerun_of"], first["id"]);
            // A rerun can be run again.
            let third = rerun(&server, &again, "").await.json();
            assert_eq!(third["rerun_of"], again["id"]);
        }
        let stays = server.get(&format!("/v1/tasks/{}", id(&first))).await.json();
        assert_eq!((&stays["state"], &stays["rerun_of"]), (&json!("cancelled"), &Value::Null));
    }
}

#[tokio::test]
async fn the_body_changes_what_it_names_and_null_takes_away() {
    let server = Server::start().await;
    let first = submitted(&server, FULL).await;
    let change = json!({"execution_cap": "5m", "delay": "2h", "name": null, "labels": {"team": null, "run": "2"},
        "run": {"command": {"env": {"A": "3", "B": null}, "stdin": null}}});
    let again = rerun(&server, &first, change.to_string()).await;
    assert_eq!(again.status, 201, "{again:?}");
    let again = again.json();
    assert_eq!(
        again["run"],
        json!({"command": {"argv": ["bash", "-c", "echo $A"], "env": {"A": "3"}}})
    );
    assert_eq!((&again["execution_cap"], &again["name"]), (&json!("5m"), &Value::Null));
    assert_eq!((&again["labels"], &again["state"]), (&json!({"run": "2"}), &json!("scheduled")));
    assert_eq!(again["priority"], json!(-3), "what is not named stays");
    let other =
        json!({"run": {"noop": {"sleep": "1s"}}, "resources": {"cpu_millis": 1, "memory_mib": 1}});
    let other = rerun(&server, &first, other.to_string()).await.json();
    assert_eq!((&other["run"], &other["tier"]), (&json!({"noop": {"sleep": "1s"}}), &Value::Null));
}

#[tokio::test]
async fn a_mistake_in_a_change_is_pointed_at_and_makes_nothing() {
    let server = Server::start().await;
    let first = submitted(&server, FULL).await;
    let before = server.stored().await;
    for (body, status, pointers) in [
        (json!({"colour": "red"}).to_string(), 422, vec!["/colour"]),
        (
            json!({"max_attempts": 0, "priority": 11}).to_string(),
            422,
            vec!["/max_attempts", "/priority"],
        ),
        (json!({"run": {"command": {"argv": null}}}).to_string(), 422, vec!["/run/command/argv"]),
        (
            json!({"run": {"command": {"env": {"A": 1}}}}).to_string(),
            422,
            vec!["/run/command/env/A"],
        ),
        (json!({"run": null}).to_string(), 422, vec!["/run"]),
        (
            json!({"tier": "basic", "resources": {"cpu_millis": 1, "memory_mib": 1}}).to_string(),
            422,
            vec!["/resources"],
        ),
        ("[]".to_owned(), 422, vec![""]),
        ("{".to_owned(), 400, vec![]),
    ] {
        let answer = rerun(&server, &first, &body).await;
        assert_eq!(
            (answer.status, answer.pointers()),
            (status, pointers.into_iter().map(str::to_owned).collect()),
            "{body}: {answer:?}"
        );
    }
    assert_eq!(server.stored().await, before);
}

#[tokio::test]
async fn a_repeated_rerun_with_a_key_makes_one_task_and_a_unique_key_meets_its_holder() {
    let server = Server::start().await;
    let first = submitted(&server, FULL).await;
    let target = format!("/v1/tasks/{}/rerun", id(&first));
    let key = [("Idempotency-Key", "k")];
    let made = server.post_with(&target, &key, "{}").await;
    let again = server.post_with(&target, &key, "{}").await;
    assert_eq!((again.status, &again.body), (201, &made.body));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    let other = server.post_with(&target, &key, r#"{"name":"other"}"#).await;
    assert_eq!(other.code(), "idempotency_key_reuse");

    let only = submitted(&server, r#"{"run":{"noop":{}},"unique_key":"one"}"#).await;
    let met = rerun(&server, &only, "").await;
    assert_eq!((met.status, &met.json()["id"]), (200, &only["id"]), "it has not ended");
    server.post(&format!("/v1/tasks/{}/cancel", id(&only)), b"").await;
    let made = rerun(&server, &only, "").await;
    assert_eq!((made.status, &made.json()["rerun_of"]), (201, &only["id"]));
}

#[tokio::test]
async fn a_task_whose_day_was_dropped_cannot_be_run_again() {
    let server = Server::start().await;
    let first = submitted(&server, FULL).await;
    let made = rerun(&server, &first, "").await.json();
    let hex = id(&first).trim_start_matches("task_");
    let drop = |table| format!("delete from {table} where replace(id::text, '-', '') = '{hex}'");
    for table in ["task", "task_spec"] {
        server.db.sql(&drop(table)).await.unwrap();
    }
    let answer = rerun(&server, &first, "").await;
    assert_eq!((answer.status, answer.code()), (404, "not_found".to_owned()));
    assert!(answer.json()["detail"].as_str().unwrap().contains(id(&first)), "{answer:?}");
    let stays = server.get(&format!("/v1/tasks/{}", id(&made))).await.json();
    assert_eq!(stays["rerun_of"], first["id"], "it still says what it ran again");
}

#[tokio::test]
async fn a_rerun_larger_than_a_task_may_be_is_refused_with_both_sizes() {
    let server = Server::start_with(&[("BERTH_API__MAX_TASK_BYTES", "2048")]).await;
    let body = json!({"run": {"command": {"argv": ["a"], "stdin": "x".repeat(1500)}}}).to_string();
    let first = submitted(&server, &body).await;
    let change = json!({"run": {"command": {"env": {"A": "y".repeat(1500)}}}}).to_string();
    let answer = rerun(&server, &first, change).await;
    assert_eq!(answer.code(), "payload_too_large");
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("2048 bytes") && detail.contains("api.max_task_bytes"), "{detail}");
    let change = json!({"name": "z".repeat(3000)}).to_string();
    let answer = rerun(&server, &first, &change).await;
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains(&format!("this one has {}", change.len())), "{detail}");
}

//! Whose turn it is, as customers say it: priority, flexible tasks, concurrency keys and their limits.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, Server};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll::until_some;

async fn send(server: &Server, verb: &str, path: &str, body: &str) -> Answer {
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    request(server.addr, verb, path, &headers, body.as_bytes()).await
}

async fn put(server: &Server, key: &str, running: u32) -> Answer {
    let body = json!({"running": running}).to_string();
    send(server, "PUT", &format!("/v1/concurrency-limits/{key}"), &body).await
}

/// What a task says of its turn.
fn turn(task: &Value) -> Value {
    json!([task["priority"], task["flexible"], task["concurrency_key"]])
}

#[tokio::test]
async fn every_way_to_submit_keeps_what_a_task_says_of_its_turn() {
    let server = Server::start().await;
    let said =
        json!({"run": {"noop": {}}, "priority": 7, "flexible": true, "concurrency_key": "k"});
    let single = server.post("/v1/tasks", said.to_string()).await.json();
    let batch = json!({"tasks": [said, {"run": {"noop": {}}, "priority": null}]}).to_string();
    let batch = server.post("/v1/tasks/batch?return=full", batch).await.json();
    let lines = [("Content-Type", "application/x-ndjson")];
    let bearer = format!("Bearer {}", server.key);
    let headers = [lines[0], ("Authorization", bearer.as_str())];
    let path = "/v1/tasks/batch?return=full";
    let lines = request(server.addr, "POST", path, &headers, said.to_string().as_bytes()).await;
    let first = lines.body.split(|byte| *byte == b'\n').next().unwrap();
    let line: Value = serde_json::from_slice(first).unwrap();
    for task in [&single, &batch["results"][0]["task"], &line["task"]] {
        assert_eq!(turn(task), json!([7, true, "k"]), "{task}");
    }
    assert_eq!(turn(&batch["results"][1]["task"]), json!([0, false, null]));
    let listed = server.get("/v1/tasks").await.json();
    let told = listed["data"].as_array().unwrap().iter().filter(|task| task["priority"] == 7);
    assert_eq!(told.map(turn).collect::<Vec<_>>(), vec![json!([7, true, "k"]); 3]);
}

#[tokio::test]
async fn a_task_that_does_not_say_is_as_flexible_as_its_plan() {
    let server = Server::start().await;
    let operator = server.new_operator("ann", &["admin"]).await;
    let mut plan: Value = serde_json::from_str(crate::matrix::PLAN).unwrap();
    (plan["flexible"], plan["submit_burst"], plan["backlog"]) =
        (json!(true), json!(100), json!(100));
    let bearer = format!("Bearer {operator}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let stored = plan.to_string();
    let made =
        request(server.addr, "PUT", "/v1/admin/plans/night", &headers, stored.as_bytes()).await;
    assert_eq!((made.status, &made.json()["flexible"]), (201, &json!(true)));
    let tenant = server.new_tenant("night").await;
    server
        .db
        .sql(&format!("update tenant set plan = 'night' where id = '{}'", tenant.uuid()))
        .await
        .unwrap();
    let key = server.new_key(tenant, &ALL_SCOPES).await;
    let submit = async |more: Value| {
        let mut task = json!({"run": {"noop": {}}});
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post_as(&key, "/v1/tasks", &[], task.to_string()).await.json()["flexible"].clone()
    };
    assert_eq!(submit(json!({})).await, true);
    assert_eq!(submit(json!({"flexible": null})).await, true);
    assert_eq!(submit(json!({"flexible": false})).await, false);
    let batch = json!({"tasks": [{"run": {"noop": {}}}]}).to_string();
    let batch = server.post_as(&key, "/v1/tasks/batch?return=full", &[], batch).await.json();
    assert_eq!(batch["results"][0]["task"]["flexible"], true, "{batch}");
    assert_eq!(server.get_as(&key, "/v1/limits").await.json()["flexible"], true);
    assert_eq!(server.get("/v1/limits").await.json()["flexible"], false);
    plan["flexible"] = json!(false);
    let stored = plan.to_string();
    request(server.addr, "PUT", "/v1/admin/plans/night", &headers, stored.as_bytes()).await;
    let felt = async || (submit(json!({})).await == false).then_some(());
    until_some("the changed plan to be felt", Duration::from_secs(3), felt).await.unwrap();
}

#[tokio::test]
async fn a_keys_limit_is_stored_read_and_forgotten_whatever_letters_it_has() {
    let server = Server::start().await;
    for (key, encoded) in [
        ("exports", "exports"),
        ("a/b", "a%2Fb"),
        ("a%2Fb", "a%252Fb"),
        ("50 % +1?#", "50%20%25%20+1%3F%23"),
        ("größe", "gr%C3%B6%C3%9Fe"),
        ("...", "%2e%2e."),
    ] {
        let path = format!("/v1/concurrency-limits/{encoded}");
        let usual = json!({"key": key, "running": 1, "stored": false, "updated_at": null});
        let mut unused = usual.clone();
        unused["held"] = json!(0);
        assert_eq!(server.get(&path).await.json(), unused);
        let stored = put(&server, encoded, 3).await;
        assert_eq!(stored.status, 200, "{stored:?}");
        let stored = stored.json();
        assert_eq!((&stored["key"], &stored["running"]), (&json!(key), &json!(3)));
        assert_eq!((&stored["stored"], stored["updated_at"].is_string()), (&json!(true), true));
        let read = server.get(&path).await.json();
        assert_eq!((&read["running"], &read["updated_at"]), (&json!(3), &stored["updated_at"]));
        for _ in 0..2 {
            let gone = send(&server, "DELETE", &path, "").await;
            assert_eq!((gone.status, gone.json()), (200, usual.clone()));
        }
    }
}

#[tokio::test]
async fn what_a_key_holds_is_shown_with_its_limit() {
    let server = Server::start().await;
    for key in ["k", "k", "k", "other"] {
        let task = json!({"run": {"noop": {}}, "concurrency_key": key}).to_string();
        assert_eq!(server.post("/v1/tasks", task).await.status, 201);
    }
    let held = async || server.get("/v1/concurrency-limits/k").await.json()["held"].clone();
    assert_eq!(held().await, 0, "what waits holds nothing");
    let hand_out =
        "update task set state = 'queued', dispatch_epoch = 1, wake_at = now() + interval '1 hour'
        where id in (select id from task where concurrency_key = 'k' order by id limit 2)";
    server.db.sql(hand_out).await.unwrap();
    assert_eq!(held().await, 2);
}

#[tokio::test]
async fn what_is_wrong_with_a_key_or_its_limit_is_said_where_it_is() {
    let server = Server::start().await;
    let long = "x".repeat(201);
    for key in ["%00", "%ff", "%2e", "%2E%2e", long.as_str()] {
        for (verb, body) in [("GET", ""), ("PUT", r#"{"running":1}"#), ("DELETE", "")] {
            let answer = send(&server, verb, &format!("/v1/concurrency-limits/{key}"), body).await;
            let told = (answer.code(), answer.pointers());
            assert_eq!(
                told,
                ("invalid_parameter".to_owned(), vec!["path:key".to_owned()]),
                "{key}"
            );
        }
    }
    for (body, pointer) in [
        ("{}", "/running"),
        (r#"{"running":1000001}"#, "/running"),
        (r#"{"running":-1}"#, "/running"),
        (r#"{"running":1.5}"#, "/running"),
        (r#"{"running":1,"key":"x"}"#, "/key"),
    ] {
        let answer = send(&server, "PUT", "/v1/concurrency-limits/k", body).await;
        let told = (answer.code(), answer.pointers());
        assert_eq!(told, ("validation_failed".to_owned(), vec![pointer.to_owned()]), "{body}");
    }
    let none = server.get("/v1/concurrency-limits").await.json();
    assert_eq!(none, json!({"data": [], "next_cursor": null}));
}

#[tokio::test]
async fn limits_are_listed_by_key_and_are_no_more_than_a_tenant_may_store() {
    let server = Server::start().await;
    let wide = "🚢".repeat(200);
    let encoded = "%F0%9F%9A%A2".repeat(200);
    for key in ["b", "a", encoded.as_str()] {
        assert_eq!(put(&server, key, 5).await.status, 200);
    }
    let (mut keys, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/concurrency-limits?limit=1{cursor}")).await;
        assert_eq!(page.status, 200, "{page:?}");
        let page = page.json();
        keys.push(page["data"][0]["key"].as_str().unwrap().to_owned());
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(keys.len(), 3);
    let at = |key: &str| keys.iter().position(|known| known == key).unwrap();
    assert!(at("a") < at("b") && keys.contains(&wide));
    let fill = format!(
        "insert into concurrency_limit (tenant_id, key, running) select '{}', 'k' || n, 1 from generate_series(1, 9997) n",
        server.tenant.uuid()
    );
    server.db.sql(&fill).await.unwrap();
    let refused = put(&server, "one-more", 1).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "conflict"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("10000"), "{refused:?}");
    assert_eq!(put(&server, "k1", 0).await.json()["running"], 0);
    send(&server, "DELETE", "/v1/concurrency-limits/k2", "").await;
    assert_eq!(put(&server, "one-more", 1).await.status, 200);
}

//! Tenants and plans over HTTP, and what a suspension and a deletion do to requests.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, NOOP, Server};
use crate::users;
use domain::access::Role;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll::until_some;

struct Operator<'a> {
    server: &'a Server,
    key: String,
}

impl<'a> Operator<'a> {
    async fn of(server: &'a Server) -> Self {
        Self { server, key: server.new_operator("ann", &["read", "admin"]).await }
    }

    async fn send(&self, verb: &str, path: &str, body: &str) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        request(self.server.addr, verb, path, &headers, body.as_bytes()).await
    }

    async fn tenant(&self, body: Value) -> Value {
        let answer = self.send("POST", "/v1/admin/tenants", &body.to_string()).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    }

    async fn stand(&self, verb: &str, path: &str) -> Value {
        let answer = self.send(verb, path, "").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }
}

fn limits() -> Value {
    json!({
        "submits_per_second": 100, "submit_burst": 200, "submits_per_hour": 0, "running_tasks": 50, "backlog": 4000,
        "schedules": 10, "payload_bytes": 2048, "stored_output_bytes": 1_000_000, "retention_days": 3, "weight": 2.5,
    })
}

async fn until_code(server: &Server, key: &str, wanted: &str) {
    let refused = || async {
        let answer = server.post_as(key, "/v1/tasks", &[], NOOP).await;
        (answer.status >= 400 && answer.code() == wanted).then_some(())
    };
    until_some(&format!("the code {wanted}"), Duration::from_secs(3), refused).await.unwrap();
}

#[tokio::test]
async fn a_tenant_is_created_read_changed_and_listed() {
    let server = Server::start().await;
    let operator = Operator::of(&server).await;
    let made = operator.tenant(json!({"name": "acme", "plan": "free", "weight": 2})).await;
    assert_eq!(
        (&made["name"], &made["plan"], &made["weight"], &made["state"]),
        (&json!("acme"), &json!("free"), &json!(2.0), &json!("active"))
    );
    let path = format!("/v1/admin/tenants/{}", made["id"].as_str().unwrap());
    assert_eq!(operator.send("GET", &path, "").await.json(), made);
    let changed = operator.send("PATCH", &path, r#"{"weight":null}"#).await.json();
    assert_eq!((&changed["plan"], &changed["weight"]), (&json!("free"), &Value::Null));
    let changed = operator.send("PATCH", &path, r#"{"plan":"default"}"#).await.json();
    assert_eq!((&changed["plan"], &changed["weight"]), (&json!("default"), &Value::Null));

    for n in 0..3 {
        operator.tenant(json!({"name": format!("more-{n}")})).await;
    }
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = operator.send("GET", &format!("/v1/admin/tenants?limit=2{cursor}"), "").await;
        let page = page.json();
        let data = page["data"].as_array().unwrap();
        names.extend(data.iter().map(|tenant| tenant["name"].as_str().unwrap().to_owned()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(names, ["more-2", "more-1", "more-0", "acme", "first"]);
    let wrong = operator.send("GET", &format!("/v1/admin/tenants?state=active{cursor}"), "").await;
    assert_eq!(wrong.code(), "invalid_cursor");
}

#[tokio::test]
async fn what_is_wrong_with_a_tenant_is_said_where_it_is() {
    let server = Server::start().await;
    let operator = Operator::of(&server).await;
    operator.tenant(json!({"name": "acme"})).await;
    for (body, code, pointer) in [
        (json!({"name": "acme"}), "conflict", None),
        (json!({"name": ""}), "validation_failed", Some("/name")),
        (json!({"name": "x".repeat(201)}), "validation_failed", Some("/name")),
        (json!({"name": "a\0b"}), "validation_failed", Some("/name")),
        (json!({"name": "b", "plan": "none"}), "validation_failed", Some("/plan")),
        (json!({"name": "b", "plan": "No Name"}), "validation_failed", Some("/plan")),
        (json!({"name": "b", "weight": 0}), "validation_failed", Some("/weight")),
        (json!({"name": "b", "state": "deleted"}), "validation_failed", Some("/state")),
        (json!({"name": "b", "id": "x"}), "validation_failed", Some("/id")),
    ] {
        let answer = operator.send("POST", "/v1/admin/tenants", &body.to_string()).await;
        assert_eq!(answer.code(), code, "{body}: {answer:?}");
        if let Some(pointer) = pointer {
            assert_eq!(answer.pointers(), [pointer], "{body}");
        }
    }
    for path in ["tenant_00000000000000000000000000000000", "acme.", "x", "%ff", "a%00"] {
        let answer = operator.send("GET", &format!("/v1/admin/tenants/{path}"), "").await;
        assert_eq!(answer.code(), "not_found");
    }
}

#[tokio::test]
async fn a_plan_is_stored_listed_and_deleted_when_nobody_is_on_it() {
    let server = Server::start().await;
    let operator = Operator::of(&server).await;
    let body = limits().to_string();
    let made = operator.send("PUT", "/v1/admin/plans/team", &body).await;
    assert_eq!((made.status, &made.json()["backlog"]), (201, &json!(4000)));
    assert_eq!(operator.send("PUT", "/v1/admin/plans/team", &body).await.status, 200);
    let listed = operator.send("GET", "/v1/admin/plans", "").await.json();
    let names: Vec<_> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plan| plan["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["default", "free", "team"]);

    let mut wrong = limits();
    (wrong["backlog"], wrong["weight"]) = (json!(0), json!(-1));
    let answer = operator.send("PUT", "/v1/admin/plans/team", &wrong.to_string()).await;
    assert_eq!(
        (answer.status, answer.pointers()),
        (422, vec!["/backlog".to_owned(), "/weight".to_owned()])
    );
    let mut partial = limits();
    partial.as_object_mut().unwrap().remove("weight");
    assert_eq!(
        operator.send("PUT", "/v1/admin/plans/team", &partial.to_string()).await.status,
        422
    );
    assert_eq!(operator.send("PUT", "/v1/admin/plans/No", &body).await.status, 400);

    operator.tenant(json!({"name": "acme", "plan": "team"})).await;
    assert_eq!(operator.send("DELETE", "/v1/admin/plans/team", "").await.code(), "conflict");
    operator.send("PUT", "/v1/admin/plans/other", &body).await;
    assert_eq!(operator.send("DELETE", "/v1/admin/plans/other", "").await.status, 200);
    assert_eq!(operator.send("DELETE", "/v1/admin/plans/other", "").await.code(), "not_found");
}

#[tokio::test]
async fn a_suspended_tenant_reads_and_cancels_and_submits_nothing_until_it_is_resumed() {
    let server = Server::start().await;
    let operator = Operator::of(&server).await;
    let task = server.noop().await;
    let path = format!("/v1/admin/tenants/{}", server.tenant);
    let suspended = operator.stand("POST", &format!("{path}/suspend")).await;
    assert_eq!(suspended["state"], "suspended");
    assert!(suspended["suspended_at"].is_string());
    until_code(&server, &server.key, "tenant_suspended").await;
    let before = server.stored().await;
    for (target, body) in
        [("/v1/tasks", NOOP.to_owned()), ("/v1/tasks/batch", format!("{{\"tasks\":[{NOOP}]}}"))]
    {
        let answer = server.post(target, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "tenant_suspended"), "{target}");
        assert!(answer.json()["detail"].as_str().unwrap().contains("operator of this service"));
    }
    let lines = [("Content-Type", "application/x-ndjson")];
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str()), lines[0]];
    let answer = request(server.addr, "POST", "/v1/tasks/batch", &headers, NOOP.as_bytes()).await;
    assert_eq!(answer.code(), "tenant_suspended");
    assert_eq!(server.stored().await, before);
    assert_eq!(server.get(&format!("/v1/tasks/{task}")).await.status, 200);
    assert_eq!(server.get("/v1/tasks").await.status, 200);
    assert_eq!(server.get("/v1/limits").await.json()["state"], "suspended");
    assert_eq!(server.post(&format!("/v1/tasks/{task}/cancel"), "").await.status, 200);

    assert_eq!(operator.stand("POST", &format!("{path}/resume")).await["state"], "active");
    let taken = || async { (server.post("/v1/tasks", NOOP).await.status == 201).then_some(()) };
    until_some("a submit to be taken", Duration::from_secs(3), taken).await.unwrap();
}

#[tokio::test]
async fn all_keys_of_a_deleted_tenant_are_refused_like_unknown_ones_and_other_tenants_go_on() {
    let server = Server::start().await;
    let operator = Operator::of(&server).await;
    let second = server.new_key(server.tenant, &ALL_SCOPES).await;
    let other = server.new_key(server.new_tenant("other").await, &ALL_SCOPES).await;
    let path = format!("/v1/admin/tenants/{}", server.tenant);
    assert_eq!(operator.stand("DELETE", &path).await["state"], "deleted");
    assert_eq!(operator.stand("DELETE", &path).await["state"], "deleted", "again is the same");
    for key in [&server.key, &second] {
        until_code(&server, key, "unauthenticated").await;
        assert_eq!(server.get_as(key, "/v1/tasks").await.code(), "unauthenticated");
    }
    for lever in ["suspend", "resume"] {
        let answer = operator.send("POST", &format!("{path}/{lever}"), "").await;
        assert_eq!((answer.status, answer.code().as_str()), (409, "conflict"));
    }
    assert_eq!(operator.send("PATCH", &path, r#"{"plan":"free"}"#).await.code(), "not_found");
    assert_eq!(server.post_as(&other, "/v1/tasks", &[], NOOP).await.status, 201);
}

#[tokio::test]
async fn a_tenants_users_stand_and_are_counted_as_its_keys_are() {
    let server = users::server().await;
    let operator = Operator::of(&server).await;
    let email = "dev@example.com";
    users::user(&server, email, Role::Developer).await;
    let token = users::signed_in(&server, email).await.0;
    let taken = server.post_as(&token, "/v1/tasks", &[], NOOP).await;
    assert_eq!(taken.status, 201);
    let by_key = server.post("/v1/tasks", NOOP).await;
    for header in ["ratelimit-policy", "ratelimit"] {
        assert!(taken.header(header).is_some(), "{taken:?}");
    }
    assert_eq!(taken.header("ratelimit-policy"), by_key.header("ratelimit-policy"));

    let path = format!("/v1/admin/tenants/{}", server.tenant);
    operator.stand("POST", &format!("{path}/suspend")).await;
    until_code(&server, &token, "tenant_suspended").await;
    assert_eq!(server.get_as(&token, "/v1/tasks").await.status, 200);
    assert_eq!(users::sign_in(&server, email, users::PASSWORD).await.status, 201);
    operator.stand("DELETE", &path).await;
    until_code(&server, &token, "unauthenticated").await;
    assert_eq!(server.get_as(&token, "/v1/tasks").await.code(), "unauthenticated");
    let refused = users::sign_in(&server, email, users::PASSWORD).await;
    assert_eq!(refused.code(), "unauthenticated");
}

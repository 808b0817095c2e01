//! Pools: kept by operators, granted to tenants; one that is not granted is to a tenant one that there is not.

use crate::client::{Answer, request};
use crate::server::{SCHEDULE, Server};
use domain::audit::By;
use domain::id::TenantId;
use serde_json::{Value, json};
use std::time::Duration;
use store::tenant::TenantChange;
use testkit::poll::until;

/// A grant, and its end, is felt within two seconds; on a machine that does much else within these.
const FELT: Duration = Duration::from_secs(10);

/// The pools' operator.
struct Operator<'a> {
    server: &'a Server,
    key: String,
}

impl<'a> Operator<'a> {
    async fn of(server: &'a Server) -> Self {
        Self { server, key: server.new_operator("ann", &["read", "admin"]).await }
    }

    async fn ask(&self, verb: &str, pool: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        let mut all =
            vec![("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        all.extend_from_slice(headers);
        let path = format!("/v1/admin/pools/{pool}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        request(self.server.addr, verb, &path, &all, body.as_bytes()).await
    }

    async fn put(&self, pool: &str, granted_to: Value) {
        let answer = self.ask("PUT", pool, &[], &json!({ "granted_to": granted_to })).await;
        assert!([200, 201].contains(&answer.status), "{answer:?}");
    }
}

fn task(pool: &str) -> Value {
    json!({"run": {"noop": {}}, "pool": pool})
}

/// Whether the tenant with this key may submit to `pool`, seen by a task that it has no right to either.
async fn may_use(server: &Server, key: &str, pool: &str) -> bool {
    let body = json!({"run": {"noop": {}}, "pool": pool, "name": ""});
    let answer = server.post_as(key, "/v1/tasks", &[], body.to_string()).await;
    !answer.pointers().contains(&"/pool".to_owned())
}

async fn felt(server: &Server, key: &str, pool: &str, granted: bool) {
    let is_so = async || may_use(server, key, pool).await == granted;
    until(&format!("the grant of `{pool}` to be {granted}"), FELT, is_so).await.unwrap();
}

/// An answer without what names the request.
fn shown(answer: &Answer, pool: &str) -> (u16, String) {
    let id = answer.header("x-request-id").unwrap_or_default();
    (answer.status, String::from_utf8_lossy(&answer.body).replace(id, "…").replace(pool, "…"))
}

/// What is answered to each way in which a tenant can name `pool`, and the names of a task and a schedule that it has there already.
async fn every_way(server: &Server, pool: &str) -> Vec<(u16, String)> {
    let lines = format!("{}\n{}", task(pool), task("default"));
    let batch = json!({"tasks": [task(pool), task("default")]}).to_string();
    let mut schedule: Value = serde_json::from_str(SCHEDULE).unwrap();
    schedule["task"] = task(pool);
    let own = server.noop().await;
    let mut answers = vec![
        server.post("/v1/tasks", task(pool).to_string()).await,
        server.post("/v1/tasks/batch", batch).await,
        server
            .post_with("/v1/tasks/batch", &[("Content-Type", "application/x-ndjson")], lines)
            .await,
        server.put_as(&server.key, "/v1/schedules/new", &[], schedule.to_string()).await,
    ];
    let change = json!({ "pool": pool }).to_string();
    answers.push(server.post(&format!("/v1/tasks/{own}/rerun"), change).await);
    let mut all: Vec<_> = answers.iter().map(|answer| shown(answer, pool)).collect();
    // Each has ids of its own in what was stored.
    for (_, body) in &mut all {
        if let Some(at) = body.find("\"task_") {
            body.truncate(at);
        }
    }
    all
}

#[tokio::test]
async fn a_pool_that_is_not_granted_is_one_that_there_is_not_in_every_way_to_name_it() {
    let server = Server::start().await;
    let operator = Operator::of(&server).await;
    let other = server.new_tenant("other").await;
    operator.put("inner", json!({"tenants": [other]})).await;
    let key = server.new_key(other, &crate::server::ALL_SCOPES).await;
    felt(&server, &key, "inner", true).await;
    let (not_granted, unknown) =
        (every_way(&server, "inner").await, every_way(&server, "outer").await);
    assert_eq!(not_granted, unknown);
    assert_eq!(not_granted[0].0, 422);
    assert!(not_granted[0].1.contains("is not a pool of this installation"), "{not_granted:?}");
    assert!(not_granted[0].1.contains("/pool"), "{not_granted:?}");
    assert_eq!(
        server.db.sql("select count(*) from task where pool <> 'default'").await.unwrap().trim(),
        "0"
    );
}

#[tokio::test]
async fn a_grant_to_a_plan_or_a_tenant_opens_a_pool_and_its_end_closes_it_for_what_comes() {
    let server = Server::start().await;
    let operator = Operator::of(&server).await;
    let other = server.new_tenant("other").await;
    let others = server.new_key(other, &crate::server::ALL_SCOPES).await;
    operator.put("inner", json!({})).await;
    for key in [&server.key, &others] {
        assert!(!may_use(&server, key, "inner").await, "a new pool is for nobody");
    }
    operator.put("inner", json!({"tenants": [server.tenant]})).await;
    felt(&server, &server.key, "inner", true).await;
    assert!(!may_use(&server, &others, "inner").await);
    operator.put("inner", json!({"plans": ["free"]})).await;
    felt(&server, &server.key, "inner", false).await;
    let plan = TenantChange { plan: Some("free".parse().unwrap()), weight: None };
    store::tenant::change(&server.admin, other, &plan, By::SYSTEM).await.unwrap();
    felt(&server, &others, "inner", true).await;
    operator.put("inner", json!({"everyone": true})).await;
    felt(&server, &server.key, "inner", true).await;

    // What was submitted stays; a schedule says that it makes nothing, and is not fired by hand.
    let id = server.post("/v1/tasks", task("inner").to_string()).await.json()["id"].clone();
    let mut schedule: Value = serde_json::from_str(SCHEDULE).unwrap();
    schedule["task"] = task("inner");
    let body = schedule.to_string();
    assert_eq!(server.put_as(&server.key, "/v1/schedules/s", &[], &body).await.status, 201);
    let warned = async || server.get("/v1/schedules/s").await.json()["warnings"].clone();
    assert!(warned().await.is_null(), "{}", warned().await);
    operator.put("inner", json!({})).await;
    felt(&server, &server.key, "inner", false).await;
    let of_task = server.get(&format!("/v1/tasks/{}", id.as_str().unwrap())).await.json();
    assert_eq!((&of_task["state"], &of_task["pool"]), (&json!("ready"), &json!("inner")));
    let warning = warned().await[0].clone();
    assert_eq!(
        (&warning["code"], &warning["pointer"]),
        (&json!("pool_unavailable"), &json!("/task/pool"))
    );
    let listed = server.get("/v1/schedules").await.json();
    assert_eq!(listed["data"][0]["warnings"][0], warning);
    let past = json!({"from": "2020-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}).to_string();
    for (verb, body) in [("trigger", String::new()), ("backfill", past)] {
        let refused = server.post(&format!("/v1/schedules/s/{verb}"), body).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "conflict"), "{refused:?}");
    }
    let put = server.put_as(&server.key, "/v1/schedules/s", &[], &body).await;
    assert_eq!(put.pointers(), ["/task/pool"], "{put:?}");
}

#[tokio::test]
async fn without_the_usual_pool_a_task_must_name_one() {
    let server = Server::start().await;
    let operator = Operator::of(&server).await;
    operator.put("default", json!({})).await;
    felt(&server, &server.key, "default", false).await;
    let refused = server.post("/v1/tasks", crate::server::NOOP).await;
    assert_eq!(
        (refused.status, refused.pointers()),
        (422, vec!["/pool".to_owned()]),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_pool_is_stored_under_its_name_in_versions_and_deleted_when_nothing_is_in_it() {
    let server = Server::start().await;
    let operator = Operator::of(&server).await;
    let spec = json!({"command_network": true, "max_executor": {"cpu_millis": 64_000, "ports": null},
        "granted_to": {"plans": ["free"], "tenants": [server.tenant]}});
    let none = [("If-None-Match", "*")];
    let made = operator.ask("PUT", "inner", &none, &spec).await;
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")), "{made:?}");
    let shown = made.json();
    assert_eq!(
        shown["granted_to"],
        json!({"everyone": false, "plans": ["free"], "tenants": [server.tenant]})
    );
    assert_eq!(
        (&shown["command_network"], &shown["private_targets"]),
        (&json!(true), &json!(false))
    );
    let limits = |cpu: Value| json!({"cpu_millis": cpu, "memory_mib": null, "disk_mib": null, "iops": null, "ports": null});
    assert_eq!(shown["max_executor"], limits(json!(64_000)));
    assert_eq!(operator.ask("PUT", "inner", &none, &spec).await.code(), "version_mismatch");
    let same = operator.ask("PUT", "inner", &[], &spec).await;
    assert_eq!((same.status, same.header("etag")), (200, Some("\"1\"")), "it was so");
    let read = operator.ask("GET", "inner", &[], &Value::Null).await;
    assert_eq!((read.json(), read.header("etag")), (shown.clone(), Some("\"1\"")));
    let changed = operator.ask("PUT", "inner", &[("If-Match", "\"1\"")], &json!({})).await;
    assert_eq!((changed.status, changed.header("etag")), (200, Some("\"2\"")));
    assert_eq!(
        changed.json()["granted_to"],
        json!({"everyone": false, "plans": [], "tenants": []})
    );
    assert_eq!(changed.json()["max_executor"], limits(Value::Null));
    let stale = operator.ask("PUT", "inner", &[("If-Match", "\"1\"")], &spec).await;
    assert_eq!((stale.status, stale.code().as_str()), (412, "version_mismatch"), "{stale:?}");

    let nobody = TenantId::fresh();
    let unknown =
        json!({"granted_to": {"plans": ["free", "no-plan"], "tenants": [nobody, server.tenant]}});
    let refused = operator.ask("PUT", "inner", &[], &unknown).await;
    assert_eq!(
        (refused.status, refused.pointers()),
        (422, vec!["/granted_to/plans/1".to_owned(), "/granted_to/tenants/0".to_owned()])
    );
    assert!(String::from_utf8_lossy(&refused.body).contains("no-plan"), "{refused:?}");
    for (wrong, at) in [
        (json!({"iops": 2_147_483_648_u32}), "/max_executor/iops"),
        (json!({"ports": -1}), "/max_executor/ports"),
        (json!({"gpus": 1}), "/max_executor/gpus"),
    ] {
        let refused = operator.ask("PUT", "inner", &[], &json!({ "max_executor": wrong })).await;
        assert_eq!((refused.status, refused.pointers()), (422, vec![at.to_owned()]), "{refused:?}");
    }
    let both = json!({"everyone": true, "plans": ["free"], "tenants": [server.tenant]});
    let kept = operator.ask("PUT", "both", &[], &json!({ "granted_to": both })).await.json();
    assert_eq!(kept["granted_to"], both, "as it is read, it can be put");
    assert_eq!(operator.ask("DELETE", "both", &[], &Value::Null).await.status, 200);
    let many = json!({"granted_to": {"tenants": vec![server.tenant; 301]}});
    assert_eq!(operator.ask("PUT", "inner", &[], &many).await.pointers(), ["/granted_to"]);

    let listed = server.get_as(&operator.key, "/v1/admin/pools").await.json();
    let names: Vec<_> =
        listed["data"].as_array().unwrap().iter().map(|pool| &pool["name"]).collect();
    assert_eq!(names, ["default", "inner"]);
    let delete = async |pool| operator.ask("DELETE", pool, &[], &Value::Null).await;
    assert_eq!(delete("default").await.code(), "conflict");
    operator.put("inner", json!({"everyone": true})).await;
    felt(&server, &server.key, "inner", true).await;
    let id = server.post("/v1/tasks", task("inner").to_string()).await.json()["id"].clone();
    assert_eq!(delete("inner").await.code(), "conflict", "a task is in it");
    server.post(&format!("/v1/tasks/{}/cancel", id.as_str().unwrap()), b"").await;
    let stale = operator.ask("DELETE", "inner", &[("If-Match", "\"2\"")], &Value::Null).await;
    assert_eq!(stale.code(), "version_mismatch");
    assert_eq!(delete("inner").await.status, 200);
    assert_eq!(delete("inner").await.code(), "not_found");
    felt(&server, &server.key, "inner", false).await;
}

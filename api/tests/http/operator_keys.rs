//! Operators' keys over HTTP: no key gives scopes that it lacks, and a revoked key gives none.

use crate::client::{Answer, request};
use crate::server::Server;
use domain::id::TenantId;
use serde_json::{Value, json};

const KEYS: &str = "/v1/admin/operator-keys";

async fn ask(server: &Server, key: &str, verb: &str, path: &str, body: Value) -> Answer {
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    request(server.addr, verb, path, &headers, body.as_bytes()).await
}

#[tokio::test]
async fn an_operator_makes_keys_with_its_own_scopes_only_and_they_work() {
    let server = Server::start().await;
    let changer = server.new_operator("changer", &["admin"]).await;
    let reads = json!({"name": "ann", "scopes": ["read"]});
    let refused = ask(&server, &changer, "POST", KEYS, reads.clone()).await;
    assert_eq!(refused.code(), "scope_missing");
    let both = server.new_operator("both", &["read", "admin"]).await;
    let made = ask(&server, &both, "POST", KEYS, reads.clone()).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    let key = made["key"].as_str().unwrap();
    assert_eq!(server.get_as(key, "/v1/admin/operator").await.json()["name"], "ann");
    assert_eq!(ask(&server, &both, "POST", KEYS, reads).await.code(), "conflict");
    // A rotation hands the scopes on.
    let rotate = format!("{KEYS}/{}/rotate", made["id"].as_str().unwrap());
    let refused = ask(&server, &changer, "POST", &rotate, Value::Null).await;
    assert_eq!(refused.code(), "scope_missing");
    let rotated = ask(&server, &both, "POST", &rotate, json!({"overlap": "0s"})).await.json();
    let new = rotated["new"]["key"].as_str().unwrap();
    assert_eq!(server.get_as(new, "/v1/admin/operator").await.json()["name"], "ann");
    let listed = server.get_as(&both, KEYS).await;
    assert!(!String::from_utf8_lossy(&listed.body).contains("berthop_"), "{listed:?}");
    for (body, pointer) in [
        (json!({"name": "", "scopes": ["read"]}), "/name"),
        (json!({"name": "bob", "scopes": []}), "/scopes"),
        (json!({"name": "bob", "scopes": ["read"], "expires_in": "0s"}), "/expires_in"),
    ] {
        assert_eq!(ask(&server, &both, "POST", KEYS, body).await.pointers(), [pointer]);
    }
}

#[tokio::test]
async fn who_was_revoked_a_moment_ago_makes_nothing_that_outlives_the_key() {
    let server = Server::start().await;
    let key = server.new_operator("ann", &["read", "admin"]).await;
    assert_eq!(server.get_as(&key, KEYS).await.status, 200, "now it is cached");
    server.db.sql("update operator_key set revoked_at = now()").await.unwrap();
    let tenant = format!("/v1/admin/tenants/{}", server.tenant);
    let own = key.split('_').nth(2).unwrap();
    for (path, body) in [
        (KEYS.to_owned(), json!({"name": "bob", "scopes": ["admin"]})),
        (format!("{KEYS}/{own}/rotate"), Value::Null),
        (format!("{tenant}/keys"), json!({"name": "n", "scopes": ["admin"]})),
        (format!("{tenant}/users"), json!({"email": "a@b", "role": "owner"})),
    ] {
        let answer = ask(&server, &key, "POST", &path, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "unauthenticated"), "{path}");
    }
    let made = "select (select count(*) from operator_key) + (select count(*) from app_user)
        + (select count(*) from api_key)";
    assert_eq!(server.db.sql(made).await.unwrap().trim(), "2");
}

#[tokio::test]
async fn of_a_deleted_tenant_no_key_and_no_user_is_made_or_shown() {
    let server = Server::start().await;
    let key = server.new_operator("ann", &["read", "admin"]).await;
    let tenant = server.new_tenant("gone").await;
    let path = format!("/v1/admin/tenants/{tenant}");
    assert_eq!(ask(&server, &key, "DELETE", &path, Value::Null).await.status, 200);
    for (verb, noun, body) in [
        ("GET", "keys", Value::Null),
        ("GET", "users", Value::Null),
        ("POST", "keys", json!({"name": "n", "scopes": ["read"]})),
        ("POST", "users", json!({"email": "a@b", "role": "owner"})),
    ] {
        let answer = ask(&server, &key, verb, &format!("{path}/{noun}"), body).await;
        assert_eq!(answer.code(), "not_found", "{verb} {noun}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(&tenant.to_string()), "{detail}");
    }
}

#[tokio::test]
async fn a_tenants_key_is_found_under_its_own_tenant_only() {
    let server = Server::start().await;
    let operator = server.new_operator("ann", &["read", "admin"]).await;
    let other = server.new_tenant("other").await;
    let keys = |tenant: TenantId| format!("/v1/admin/tenants/{tenant}/keys");
    let spec = json!({"name": "n", "scopes": ["read"]});
    let made = ask(&server, &operator, "POST", &keys(server.tenant), spec).await.json();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    for (verb, rest) in [("POST", "/rotate"), ("DELETE", "")] {
        let of = async |key: &str| {
            let path = format!("{}/{key}{rest}", keys(other));
            let answer = ask(&server, &operator, verb, &path, Value::Null).await;
            (answer.status, answer.json()["detail"].to_string().replace(key, "…"))
        };
        assert_eq!(of(id).await, of("aaaaaaaaaaaa").await, "{verb}");
        assert_eq!(of(id).await.0, 404, "{verb}");
    }
    assert_eq!(server.get_as(key, "/v1/tasks").await.status, 200, "it was not touched");
    let own = format!("{}/{id}", keys(server.tenant));
    assert_eq!(ask(&server, &operator, "DELETE", &own, Value::Null).await.status, 200);
}

#[tokio::test]
async fn a_tenant_is_found_by_its_name() {
    let server = Server::start().await;
    let key = server.new_operator("ann", &["read"]).await;
    let found = async |query: &str| {
        let page = server.get_as(&key, &format!("/v1/admin/tenants?{query}")).await.json();
        let data = page["data"].as_array().unwrap().clone();
        data.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("name=first").await, [server.tenant.to_string()]);
    assert_eq!(found("name=First").await, [server.tenant.to_string()], "taken for it");
    assert!(found("name=second").await.is_empty());
    assert!(found("name=first&state=suspended").await.is_empty());
}

#[tokio::test]
async fn a_plan_is_changed_and_deleted_in_the_version_that_was_read() {
    let server = Server::start().await;
    let key = server.new_operator("ann", &["read", "admin"]).await;
    let path = "/v1/admin/plans/team";
    let put = async |header: (&str, &str), backlog: u32| {
        let mut plan: Value = serde_json::from_str(crate::matrix::PLAN).unwrap();
        plan["backlog"] = json!(backlog);
        server.put_as(&key, path, &[header], plan.to_string()).await
    };
    assert_eq!(put(("If-Match", "\"1\""), 1).await.code(), "version_mismatch");
    let made = put(("If-None-Match", "*"), 1).await;
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")));
    let there = put(("If-None-Match", "*"), 1).await;
    assert_eq!(there.status, 412);
    assert!(there.json()["detail"].as_str().unwrap().contains("version 1"), "{there:?}");
    assert_eq!(put(("If-Match", "\"1\""), 2).await.header("etag"), Some("\"2\""));
    assert_eq!(put(("If-Match", "\"1\""), 3).await.code(), "version_mismatch");
    let read = server.get_as(&key, path).await;
    assert_eq!((read.header("etag"), &read.json()["backlog"]), (Some("\"2\""), &json!(2)));
    let delete = async |version: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str()), ("If-Match", version)];
        request(server.addr, "DELETE", path, &headers, b"").await.status
    };
    assert_eq!(delete("\"1\"").await, 412);
    assert_eq!(delete("\"2\"").await, 200);
    assert_eq!(server.get_as(&key, path).await.code(), "not_found");
}

#[tokio::test]
async fn connected_executors_are_listed_with_what_is_free_and_without_their_sessions_id() {
    let server = Server::start().await;
    let key = server.new_operator("ann", &["read"]).await;
    let session = "0190a6f3-c1d2-7a3e-8b1f-0c2d4e5f6071";
    let connect = format!(
        "insert into executor_session (id, executor_id, pool, state, owner, owner_epoch, expires_at, cpu_millis, memory_mib,
                disk_mib, iops, port_first, port_count, version)
            select case n when 1 then '{session}'::uuid else gen_random_uuid() end, 'e' || n, case n when 3 then 'gpu' else 'default' end,
                'active', gen_random_uuid(), 1, now() + interval '1 min', 4000, 8192, 1000, 100, 20000, 10, 'test'
            from generate_series(1, 3) n"
    );
    server.db.sql(&connect).await.unwrap();
    let first = server.get_as(&key, "/v1/admin/executors?limit=2").await;
    let text = String::from_utf8_lossy(&first.body).into_owned();
    assert!(!text.contains(session) && !text.contains(&session.replace('-', "")), "{text}");
    let page = first.json();
    let one = &page["data"][0];
    assert_eq!(
        (&one["id"], &one["running"], &one["draining"]),
        (&json!("e1"), &json!(0), &json!(false))
    );
    assert_eq!((&one["free"], &one["free"]["cpu_millis"]), (&one["capacity"], &json!(4000)));
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = server.get_as(&key, &format!("/v1/admin/executors?limit=2&cursor={cursor}")).await;
    assert_eq!(rest.json()["data"][0]["id"], "e3");
    let gpu = server.get_as(&key, "/v1/admin/executors?pool=gpu").await.json();
    assert_eq!(gpu["data"].as_array().unwrap().len(), 1);
    let other = format!("/v1/admin/executors?pool=gpu&cursor={cursor}");
    assert_eq!(server.get_as(&key, &other).await.code(), "invalid_cursor");
}

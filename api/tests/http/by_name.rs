//! Tenants and users stored under their names: `PUT` with `ETag`, `If-Match` and `If-None-Match`.

use crate::client::{Answer, request};
use crate::server::Server;
use crate::users;
use domain::access::Role;
use serde_json::{Value, json};

/// Puts, as whoever has this key.
struct Putter<'a> {
    server: &'a Server,
    key: String,
}

impl<'a> Putter<'a> {
    async fn operator(server: &'a Server) -> Self {
        Self { server, key: server.new_operator("ann", &["read", "admin"]).await }
    }

    async fn put(&self, path: &str, headers: &[(&str, &str)], body: Value) -> Answer {
        self.server.put_as(&self.key, path, headers, body.to_string()).await
    }

    async fn send(&self, verb: &str, path: &str) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        request(self.server.addr, verb, path, &[("Authorization", &bearer)], b"").await
    }

    async fn remove(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        let headers = [headers, &[("Authorization", &bearer)]].concat();
        request(self.server.addr, "DELETE", path, &headers, b"").await
    }
}

/// Status and version of an answer; the version is in both places or in none.
fn seen(answer: &Answer) -> (u16, i64) {
    let version = answer.json()["version"].as_i64().unwrap_or_default();
    let tag = answer.header("etag").map(str::to_owned);
    assert_eq!(tag, (version > 0).then(|| format!("\"{version}\"")), "{answer:?}");
    (answer.status, version)
}

const NEW: (&str, &str) = ("If-None-Match", "*");

#[tokio::test]
async fn a_tenant_is_stored_by_name_and_the_same_again_changes_nothing() {
    let server = Server::start().await;
    let operator = Putter::operator(&server).await;
    let path = "/v1/admin/tenants/Acme%20%26%20Sons%2FLtd";
    let made = operator.put(path, &[NEW], json!({"plan": "free"})).await;
    assert_eq!(seen(&made), (201, 1), "{made:?}");
    let tenant = made.json();
    assert_eq!(
        (&tenant["name"], &tenant["plan"], &tenant["weight"], &tenant["state"]),
        (&json!("Acme & Sons/Ltd"), &json!("free"), &Value::Null, &json!("active"))
    );
    assert_eq!(operator.put(path, &[NEW], json!({})).await.code(), "version_mismatch");
    let audited = "select count(*) from audit where action = 'tenant.put'";
    for same in [path, "/v1/admin/tenants/ACME%20%26%20sons%2Fltd"] {
        let again = operator.put(same, &[], json!({"plan": "free", "state": "active"})).await;
        assert_eq!((seen(&again), again.json()), ((200, 1), tenant.clone()));
    }
    assert_eq!(server.db.sql(audited).await.unwrap().trim(), "1");

    let if_match = |version| [("If-Match", version)];
    let heavier = json!({"plan": "free", "weight": 2});
    let changed = operator.put(path, &if_match("\"1\""), heavier.clone()).await;
    assert_eq!((seen(&changed), &changed.json()["weight"]), ((200, 2), &json!(2.0)));
    let late = operator.put(path, &if_match("\"1\""), heavier).await;
    assert_eq!((late.status, late.code().as_str()), (412, "version_mismatch"));
    let nobody = operator.put("/v1/admin/tenants/nobody", &if_match("\"1\""), json!({})).await;
    assert_eq!(nobody.code(), "version_mismatch");

    // All of it is stored: what is left out has its default.
    let suspended = operator.put(path, &[], json!({"state": "suspended"})).await.json();
    assert_eq!(
        (&suspended["plan"], &suspended["weight"], &suspended["state"]),
        (&json!("default"), &Value::Null, &json!("suspended"))
    );
    assert!(suspended["suspended_at"].is_string());
    let read = operator.send("GET", path).await;
    assert_eq!((read.status, read.json()), (200, suspended.clone()));
    let by_id = format!("/v1/admin/tenants/{}", tenant["id"].as_str().unwrap());
    assert_eq!(operator.send("GET", &by_id).await.json(), suspended);
    let active = operator.put(&by_id, &[], json!({})).await;
    assert_eq!((active.status, &active.json()["suspended_at"]), (200, &Value::Null));
}

#[tokio::test]
async fn every_change_of_a_tenant_counts_whoever_makes_it() {
    let server = Server::start().await;
    let operator = Putter::operator(&server).await;
    let path = "/v1/admin/tenants/acme";
    assert_eq!(seen(&operator.put(path, &[], json!({"state": "suspended"})).await), (201, 2));
    let version = async || seen(&operator.send("GET", path).await).1;
    for (verb, target, wanted) in [
        ("POST", "/v1/admin/tenants/acme/resume", 3),
        ("POST", "/v1/admin/tenants/acme/resume", 3),
        ("POST", "/v1/admin/tenants/acme/suspend", 4),
        ("DELETE", path, 5),
    ] {
        assert_eq!(operator.send(verb, target).await.status, 200, "{target}");
        assert_eq!(version().await, wanted, "{target}");
    }
    for headers in [&[][..], &[NEW]] {
        let gone = operator.put(path, headers, json!({})).await;
        assert_eq!((gone.status, gone.code().as_str()), (409, "conflict"));
    }
    for (path, body, pointer) in [
        ("/v1/admin/tenants/b", json!({"plan": "none"}), "/plan"),
        ("/v1/admin/tenants/first", json!({"plan": "none"}), "/plan"),
        ("/v1/admin/tenants/b", json!({"weight": 0}), "/weight"),
        ("/v1/admin/tenants/b", json!({"state": "deleted"}), "/state"),
        ("/v1/admin/tenants/b", json!({"name": "c"}), "/name"),
        ("/v1/admin/tenants/a%00b", json!({}), "path:id"),
        ("/v1/admin/tenants/%ff", json!({}), "path:id"),
    ] {
        let wrong = operator.put(path, &[], body).await;
        assert_eq!(wrong.pointers(), [pointer], "{wrong:?}");
    }
    let unknown = format!("/v1/admin/tenants/{}", domain::id::TenantId::fresh());
    assert_eq!(operator.put(&unknown, &[], json!({})).await.code(), "not_found");
}

#[tokio::test]
async fn a_user_is_stored_by_address_invited_once_and_keeps_the_role_that_was_put() {
    let server = users::server().await;
    let operator = Putter::operator(&server).await;
    let tenant = Putter { server: &server, key: server.key.clone() };
    for (putter, path) in [
        (&tenant, "/v1/users/Ann%40example.com"),
        (&operator, "/v1/admin/tenants/first/users/bob@example.com"),
    ] {
        let invited = putter.put(path, &[NEW], json!({"role": "viewer"})).await;
        assert_eq!(seen(&invited), (201, 1), "{invited:?}");
        assert!(invited.json()["invite_token"].is_string());
        assert_eq!(putter.put(path, &[NEW], json!({"role": "admin"})).await.status, 412);
        let again = putter.put(path, &[], json!({"role": "viewer"})).await;
        assert_eq!(seen(&again), (200, 1));
        assert!(again.json().get("invite_token").is_none(), "{again:?}");
        let changed = putter.put(path, &[("If-Match", "\"1\"")], json!({"role": "admin"})).await;
        assert_eq!((seen(&changed), &changed.json()["role"]), ((200, 2), &json!("admin")));
        assert_eq!(
            putter.put(path, &[("If-Match", "\"1\"")], json!({"role": "viewer"})).await.code(),
            "version_mismatch"
        );
        let read = putter.send("GET", path).await;
        assert_eq!((seen(&read), read.json()), ((200, 2), changed.json()));
    }
    let audited = "select count(*) from audit where action = 'user.put'";
    assert_eq!(server.db.sql(audited).await.unwrap().trim(), "4");
    let by_address = "/v1/users/bob@example.com";
    assert_eq!(tenant.send("DELETE", by_address).await.json()["email"], "bob@example.com");
    assert_eq!(tenant.send("GET", by_address).await.code(), "not_found");
    let tag = [("If-Match", "\"3\"")];
    assert_eq!(tenant.put(by_address, &tag, json!({"role": "admin"})).await.status, 412);
    let anew = tenant.put(by_address, &[], json!({"role": "admin"})).await;
    assert_eq!(seen(&anew), (201, 1), "an address comes back with another user");
    assert_eq!(tenant.put("/v1/users/nobody", &[], json!({"role": "admin"})).await.status, 404);
}

#[tokio::test]
async fn a_user_is_removed_in_the_version_that_was_asked_for() {
    let server = users::server().await;
    let operator = Putter::operator(&server).await;
    let tenant = Putter { server: &server, key: server.key.clone() };
    for (remover, path) in [
        (&tenant, "/v1/users/ann@example.com"),
        (&operator, "/v1/admin/tenants/first/users/bob@example.com"),
    ] {
        let made = remover.put(path, &[], json!({"role": "viewer"})).await.json();
        remover.put(path, &[], json!({"role": "developer"})).await;
        let late = remover.remove(path, &[("If-Match", "\"1\"")]).await;
        assert_eq!((late.status, late.code().as_str()), (412, "version_mismatch"), "{path}");
        let removed = remover.remove(path, &[("If-Match", "\"2\"")]).await;
        assert_eq!((removed.status, &removed.json()["id"]), (200, &made["id"]), "{removed:?}");
        assert_eq!(remover.send("GET", path).await.code(), "not_found");
        let again = remover.remove(path, &[("If-Match", "\"2\"")]).await;
        assert_eq!(again.code(), "not_found", "{path}");
    }
    users::user(&server, "owner@example.com", Role::Owner).await;
    let owner = server.get("/v1/users/owner@example.com").await.json();
    let by_id = format!("/v1/admin/tenants/first/users/{}", owner["id"].as_str().unwrap());
    assert_eq!(operator.send("DELETE", &by_id).await.code(), "last_owner");
    let elsewhere = server.new_tenant("second").await;
    let foreign = by_id.replace("first", &elsewhere.to_string());
    assert_eq!(operator.send("DELETE", &foreign).await.code(), "not_found");
    let nobody = "/v1/admin/tenants/first/users/nobody@example.com";
    assert_eq!(operator.send("DELETE", nobody).await.code(), "not_found");
}

#[tokio::test]
async fn nobody_puts_a_role_beyond_their_own_nor_takes_the_last_owners() {
    let server = users::server().await;
    users::user(&server, "owner@example.com", Role::Owner).await;
    let operator = Putter::operator(&server).await;
    let tenant = Putter { server: &server, key: server.key.clone() };
    let put = async |email: &str, role: &str| {
        tenant.put(&format!("/v1/users/{email}"), &[], json!({"role": role})).await.code()
    };
    assert_eq!(put("ann@example.com", "owner").await, "scope_missing");
    assert_eq!(put("owner@example.com", "viewer").await, "scope_missing");
    let path = "/v1/admin/tenants/first/users/owner@example.com";
    assert_eq!(operator.put(path, &[], json!({"role": "viewer"})).await.code(), "last_owner");
    assert_eq!(seen(&operator.send("GET", path).await), (200, 2), "made a viewer, then an owner");
    let second = "/v1/admin/tenants/first/users/second@example.com";
    let made = operator.put(second, &[], json!({"role": "owner"})).await;
    assert_eq!(made.status, 201);
    // Who has not come in yet is nobody's last owner's successor.
    assert_eq!(operator.put(path, &[], json!({"role": "viewer"})).await.code(), "last_owner");
}

#[tokio::test]
async fn of_many_who_put_the_same_new_name_at_once_one_creates_it() {
    let server = Server::start().await;
    let operator = Putter::operator(&server).await;
    for path in ["/v1/admin/tenants/rival", "/v1/admin/tenants/first/users/rival@example.com"] {
        let body = if path.contains("users") { json!({"role": "viewer"}) } else { json!({}) };
        let puts = (0..8).map(|_| operator.put(path, &[], body.clone()));
        let mut statuses: Vec<u16> =
            futures::future::join_all(puts).await.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201], "{path}");
    }
    let audited = "select count(*) from audit where action in ('tenant.put', 'user.put')";
    assert_eq!(server.db.sql(audited).await.unwrap().trim(), "2");
}

//! API keys of a tenant: made, shown once, replaced, ended everywhere.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, NOOP, Server};
use runtime::clock::monotonic;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use testkit::poll::until_some;

async fn ask(addr: SocketAddr, verb: &str, target: &str, key: &str) -> Answer {
    let bearer = format!("Bearer {key}");
    request(addr, verb, target, &[("Authorization", &bearer)], b"").await
}

async fn made(server: &Server, body: Value) -> (String, String) {
    let answer = server.post("/v1/keys", body.to_string()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let json = answer.json();
    (json["id"].as_str().unwrap().to_owned(), json["key"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_key_is_made_shown_once_listed_without_its_secret_and_stored_as_a_hash() {
    let server = Server::start().await;
    let spec = json!({"name": "ci", "scopes": ["submit", "read", "read"], "expires_in": "1h"});
    let (id, key) = made(&server, spec).await;
    assert_eq!(server.post_as(&key, "/v1/tasks", &[], NOOP).await.status, 201);
    assert_eq!(server.get_as(&key, "/v1/keys").await.code(), "scope_missing");

    let listed = server.get("/v1/keys").await;
    assert!(!String::from_utf8_lossy(&listed.body).contains(&key[key.len() - 40..]));
    let listed = listed.json();
    let own = listed["data"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap();
    assert_eq!((&own["name"], &own["scopes"]), (&json!("ci"), &json!(["read", "submit"])));
    assert!(own["expires_at"].is_string() && own.get("key").is_none() && own["user"].is_null());

    let dump = server.db.sql("select k::text from api_key k").await.unwrap();
    assert!(dump.contains(&id) && !dump.contains(&key[key.len() - 40..]), "{dump}");
}

#[tokio::test]
async fn nobody_gives_a_scope_they_do_not_hold() {
    let server = Server::start().await;
    let keeper = server.new_key(server.tenant, &["admin"]).await;
    for (scopes, status) in [
        (json!(["read"]), 403),
        (json!(["submit"]), 403),
        (json!(["admin", "read"]), 403),
        (json!(["admin"]), 201),
        (json!(["root"]), 422),
        (json!([]), 422),
    ] {
        let body = json!({"name": "n", "scopes": scopes}).to_string();
        let answer = server.post_as(&keeper, "/v1/keys", &[], &body).await;
        assert_eq!(answer.status, status, "{scopes}: {answer:?}");
    }
    // A rotation would hand out the old key's scopes as well.
    let (id, _) = made(&server, json!({"name": "all", "scopes": ["read", "submit"]})).await;
    let answer = server.post_as(&keeper, &format!("/v1/keys/{id}/rotate"), &[], "").await;
    assert_eq!(answer.code(), "scope_missing");
}

#[tokio::test]
async fn mistakes_are_told_by_field() {
    let server = Server::start().await;
    for (body, pointer) in [
        (json!({"name": "", "scopes": ["read"]}), "/name"),
        (json!({"name": "a\u{0}b", "scopes": ["read"]}), "/name"),
        (json!({"name": "n", "scopes": ["read"], "expires_in": "0s"}), "/expires_in"),
        (json!({"name": "n", "scopes": ["read"], "expires_in": "87601h"}), "/expires_in"),
        (json!({"name": "n", "scopes": ["read"], "tenant_id": "t"}), "/tenant_id"),
        (json!({"name": "n", "scopes": ["read"], "hash": "00"}), "/hash"),
        (json!({"name": "n"}), "/scopes"),
    ] {
        let answer = server.post("/v1/keys", body.to_string()).await;
        assert_eq!((answer.code().as_str(), answer.status), ("validation_failed", 422), "{body}");
        assert_eq!(answer.pointers(), [pointer], "{body}");
    }
    let (id, _) = made(&server, json!({"name": "n", "scopes": ["read"]})).await;
    for overlap in ["721h", "-1s", "soon"] {
        let body = json!({"overlap": overlap}).to_string();
        let answer = server.post(&format!("/v1/keys/{id}/rotate"), body).await;
        assert_eq!(answer.pointers(), ["/overlap"], "{overlap}");
    }
}

#[tokio::test]
async fn a_repeated_request_makes_no_second_key_and_shows_no_secret_again() {
    let server = Server::start().await;
    let body = json!({"name": "ci", "scopes": ["read"]}).to_string();
    let once = [("Idempotency-Key", "one")];
    let first = server.post_with("/v1/keys", &once, &body).await;
    let again = server.post_with("/v1/keys", &once, &body).await;
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(first.json()["id"], again.json()["id"]);
    assert!(first.json()["key"].is_string() && again.json()["key"].is_null());
    let other = json!({"name": "cd", "scopes": ["read"]}).to_string();
    let reused = server.post_with("/v1/keys", &once, &other).await;
    assert_eq!(reused.code(), "idempotency_key_reuse");
    let named = "select count(*) from api_key where name = 'ci'";
    assert_eq!(server.db.sql(named).await.unwrap().trim(), "1");
    let kept = server.db.sql("select convert_from(answer, 'utf8') from idempotency").await.unwrap();
    assert!(!kept.contains("berth_live_"), "{kept}");
}

#[tokio::test]
async fn a_rotated_key_lives_on_for_its_overlap_and_is_replaced_once() {
    let server = Server::start().await;
    let (old, old_key) = made(&server, json!({"name": "ci", "scopes": ["read"]})).await;
    let rotate = format!("/v1/keys/{old}/rotate");
    let rotated = server.post(&rotate, "").await;
    assert_eq!(rotated.status, 201, "{rotated:?}");
    let json = rotated.json();
    let new_key = json["new"]["key"].as_str().unwrap();
    assert_eq!((&json["new"]["name"], &json["new"]["scopes"]), (&json!("ci"), &json!(["read"])));
    assert_eq!(json["old"]["replaced_by"], json["new"]["id"]);
    let end: chrono::DateTime<chrono::Utc> =
        json["old"]["expires_at"].as_str().unwrap().parse().unwrap();
    let left = end - runtime::clock::wall();
    assert!((86_300..=86_400).contains(&left.num_seconds()), "{left}");
    for key in [&old_key, new_key] {
        assert_eq!(server.get_as(key, "/v1/tasks").await.status, 200, "both are good");
    }
    assert_eq!(server.post(&rotate, "").await.code(), "already_rotated");

    let second = format!("/v1/keys/{}/rotate", json["new"]["id"].as_str().unwrap());
    let at_once = server.post(&second, r#"{"overlap":"0s"}"#).await;
    assert_eq!(at_once.status, 201, "{at_once:?}");
    let ended =
        || async { (server.get_as(new_key, "/v1/tasks").await.status == 401).then_some(()) };
    until_some("the key to end", Duration::from_secs(2), ended).await.unwrap();
    assert_eq!(server.get_as(&old_key, "/v1/tasks").await.status, 200);
    let unknown = server.post("/v1/keys/aaaaaaaaaaaa/rotate", "").await;
    assert_eq!(unknown.code(), "not_found");
}

#[tokio::test]
async fn a_key_that_was_revoked_a_moment_ago_leaves_no_other_access_behind() {
    let server = Server::start_with(&[("BERTH_API__KEY_CACHE_TTL", "1500ms")]).await;
    let (kept, _) = made(&server, json!({"name": "kept", "scopes": ["read"]})).await;
    let (id, leaked) = made(&server, json!({"name": "leaked", "scopes": ALL_SCOPES})).await;
    assert_eq!(server.get_as(&leaked, "/v1/keys").await.status, 200, "known from now on");
    let revoke = format!("update api_key set revoked_at = now() where id = '{id}'");
    server.db.sql(&revoke).await.unwrap();
    for (path, body) in [
        ("/v1/keys", json!({"name": "other", "scopes": ["read"]})),
        (&format!("/v1/keys/{kept}/rotate"), json!({})),
        ("/v1/users", json!({"email": "eve@example.com", "role": "viewer"})),
    ] {
        let answer = server.post_as(&leaked, path, &[], body.to_string()).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "unauthenticated"), "{path}");
    }
    let left = "select (select count(*) from api_key) + (select count(*) from app_user)";
    assert_eq!(server.db.sql(left).await.unwrap().trim(), "3", "the server's own, and these two");
}

#[tokio::test]
async fn keys_are_listed_page_by_page_newest_first() {
    let server = Server::start().await;
    for n in 0..5 {
        made(&server, json!({"name": format!("k{n}"), "scopes": ["read"]})).await;
    }
    let (mut names, mut target) = (Vec::new(), "/v1/keys?limit=2".to_owned());
    loop {
        let page = server.get(&target).await.json();
        let data = page["data"].as_array().unwrap();
        assert!(data.len() <= 2);
        names.extend(data.iter().map(|key| key["name"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        target = format!("/v1/keys?limit=2&cursor={cursor}");
    }
    assert_eq!(names, ["k4", "k3", "k2", "k1", "k0", "test"]);
    let other = server.new_tenant("second").await;
    let key = server.new_key(other, &ALL_SCOPES).await;
    assert_eq!(server.get_as(&key, &target).await.code(), "invalid_cursor");
}

/// What is about seconds that pass waits for them.
mod waits {
    use super::*;

    /// C6: refused within 2 s by each of two processes that are asked with it all the time. There is no Redis here at all: what
    /// bounds it is the life of a cached answer.
    #[tokio::test]
    async fn a_revoked_key_is_refused_by_all_processes_within_two_seconds_at_load() {
        let server = Server::start().await;
        let twin = server.twin().await;
        let (id, key) =
            made(&server, json!({"name": "leaked", "scopes": ["read", "submit"]})).await;
        let stop = std::cell::Cell::new(false);
        let taken: [std::cell::Cell<u32>; 4] = Default::default();
        let load = |(addr, taken)| {
            let (stop, key, taken): (_, _, &std::cell::Cell<u32>) = (&stop, key.as_str(), taken);
            async move {
                let mut last_taken = monotonic();
                while !stop.get() {
                    let asked = monotonic();
                    if ask(addr, "GET", "/v1/tasks", key).await.status == 200 {
                        last_taken = asked;
                        taken.set(taken.get() + 1);
                    }
                }
                last_taken
            }
        };
        let revoking = async {
            let at_load = async || taken.iter().all(|taken| taken.get() > 10).then_some(());
            until_some("all to be at load", Duration::from_secs(20), at_load).await.unwrap();
            let revoked = ask(server.addr, "DELETE", &format!("/v1/keys/{id}"), &server.key).await;
            assert_eq!(revoked.status, 200, "{revoked:?}");
            let revoked_at = monotonic();
            runtime::clock::sleep(Duration::from_millis(2500)).await;
            stop.set(true);
            revoked_at
        };
        let addrs = [server.addr, twin.addr, server.addr, twin.addr];
        let loads = addrs.into_iter().zip(&taken).map(load);
        let (revoked_at, ended) = tokio::join!(revoking, futures::future::join_all(loads));
        for last_taken in ended {
            let after = last_taken.saturating_duration_since(revoked_at);
            assert!(after <= Duration::from_secs(2), "the last was taken {after:?} after");
        }
        assert_eq!(ask(twin.addr, "GET", "/v1/tasks", &key).await.code(), "unauthenticated");
        let again = ask(server.addr, "DELETE", &format!("/v1/keys/{id}"), &server.key).await;
        assert_eq!(again.code(), "not_found");
    }

    #[tokio::test]
    async fn the_last_use_of_a_key_is_shown_within_a_minute() {
        let server = Server::start().await;
        let (id, key) = made(&server, json!({"name": "ci", "scopes": ["read"]})).await;
        assert_eq!(server.get_as(&key, "/v1/tasks").await.status, 200);
        let used = || async {
            let listed = server.get("/v1/keys").await.json();
            let own =
                listed["data"].as_array().unwrap().iter().find(|one| one["id"] == id)?.clone();
            own["last_used_at"].is_string().then_some(())
        };
        until_some("the use to be written down", Duration::from_secs(60), used).await.unwrap();
    }
}

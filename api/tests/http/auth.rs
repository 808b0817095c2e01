//! Keys and scopes: who is let in, to what, and who is told what.

use crate::client::request;
use crate::server::{ALL_SCOPES, NOOP, Server, secret};
use api::routes::table::{Access, TABLE};
use domain::access::PermissionSet;
use domain::id::TaskId;
use identity::Scope;
use identity::key::generate;
use runtime::config::ExposeSecret;
use std::time::Duration;
use store::audit::By;
use testkit::poll::until_some;

#[tokio::test]
async fn a_bad_key_is_refused_in_the_same_words_whatever_is_wrong_with_it() {
    let server = Server::start().await;
    let unknown = generate("live", &secret()).unwrap().text.expose_secret().to_owned();
    let other_secret = "0123456789abcdef0123456789ABCDEF".to_owned().into();
    let other_hash = generate("live", &other_secret).unwrap();
    let stored_otherwise = other_hash.text.expose_secret().to_owned();
    server
        .db
        .sql(&format!(
            "insert into api_key (id, tenant_id, name, hash, scopes)
             values ('{}', '{}', 'x', decode(repeat('00', 32), 'hex'), array['read'])",
            other_hash.id,
            server.tenant.uuid()
        ))
        .await
        .unwrap();
    let tampered = format!(
        "{}{}",
        &server.key[..server.key.len() - 1],
        if server.key.ends_with('0') { '1' } else { '0' }
    );
    let shortened = server.key[..30].to_owned();
    for header in [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Basic dXNlcjpwYXNz".to_owned(),
        server.key.clone(),
        format!("Bearer {tampered}"),
        format!("Bearer {shortened}"),
        format!("Bearer {}", server.key.to_uppercase()),
        format!("Bearer {unknown}"),
        format!("Bearer {stored_otherwise}"),
        format!("Bearer {}", "x".repeat(5000)),
    ] {
        let answer =
            request(server.addr, "GET", "/v1/tasks", &[("Authorization", &header)], b"").await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "unauthenticated"), "{header}");
        assert!(answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")));
        assert!(
            !String::from_utf8_lossy(&answer.body).contains(&server.key),
            "no key in an answer"
        );
    }
    let none = request(server.addr, "GET", "/v1/tasks", &[], b"").await;
    assert_eq!(none.status, 401);
    let bearer = format!("Bearer {}", server.key);
    let twice = [("Authorization", bearer.as_str()), ("Authorization", bearer.as_str())];
    assert_eq!(request(server.addr, "GET", "/v1/tasks", &twice, b"").await.status, 401);
}

#[tokio::test]
async fn without_a_key_not_even_the_body_is_looked_at() {
    let server = Server::start().await;
    let answer =
        request(server.addr, "POST", "/v1/tasks", &[], "x".repeat(400_000).as_bytes()).await;
    assert_eq!(answer.status, 401);
    assert_eq!(server.stored().await, 0);
}

#[tokio::test]
async fn each_route_takes_exactly_the_scope_of_the_table() {
    let server = Server::start().await;
    for scope in Scope::ALL {
        let key = server.new_key(server.tenant, &[scope.as_str()]).await;
        for endpoint in &TABLE {
            let Access::Tenant(needed, _) = endpoint.access else { continue };
            let path = server.filled(endpoint.path).await;
            let bearer = format!("Bearer {key}");
            let headers =
                [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
            let answer = request(server.addr, endpoint.verb.as_str(), &path, &headers, b"").await;
            let may = scope.permissions().with(PermissionSet::OF_EVERYBODY);
            if may.contains(needed) {
                assert!(
                    ![401, 403, 404, 405, 500].contains(&answer.status),
                    "{endpoint:?} {answer:?}"
                );
            } else {
                assert_eq!(
                    (answer.status, answer.code().as_str()),
                    (403, "scope_missing"),
                    "{endpoint:?}"
                );
                let detail = answer.json()["detail"].as_str().unwrap().to_owned();
                assert!(detail.contains(needed.as_str()), "{detail}");
                let scope = Scope::ALL.into_iter().find(|s| s.permissions().contains(needed));
                assert!(scope.is_none_or(|s| detail.contains(s.as_str())), "{detail}");
            }
        }
    }
}

#[tokio::test]
async fn another_tenants_task_looks_like_one_that_does_not_exist() {
    let server = Server::start().await;
    let foreign = server.noop().await;
    let unknown = TaskId::fresh().to_string();
    let other = server.new_tenant("second").await;
    let key = server.new_key(other, &ALL_SCOPES).await;
    let malformed = ["task_1", "task_%00", "1", "task_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "%2e%2e"];
    for suffix in
        ["", "/attempts", "/result", "/logs", "/logs?format=raw", "/logs?follow=true", "/cancel"]
    {
        let mut shown = Vec::new();
        for id in [foreign.as_str(), unknown.as_str()].into_iter().chain(malformed) {
            let target = format!("/v1/tasks/{id}{suffix}");
            let answer = if suffix == "/cancel" {
                server.post_as(&key, &target, &[], b"").await
            } else {
                server.get_as(&key, &target).await
            };
            assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{target}");
            let mut body = answer.json();
            body.as_object_mut().unwrap().remove("request_id");
            // It says back what was asked for, and nothing else.
            let detail = body.as_object_mut().unwrap().remove("detail").unwrap();
            let id = id.replace("%00", "").replace("%2e", ".");
            assert_eq!(detail, format!("There is no task `{id}`."));
            let mut headers = answer.headers;
            headers.retain(|(name, _)| {
                !["x-request-id", "date"].contains(&name.to_lowercase().as_str())
            });
            headers.sort();
            shown.push((
                body,
                headers.into_iter().filter(|(n, _)| n != "content-length").collect::<Vec<_>>(),
            ));
        }
        assert!(shown.iter().all(|one| *one == shown[0]), "{shown:?}");
    }
    let listed = server.get_as(&key, "/v1/tasks").await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 0);
    assert_eq!(
        server.get(&format!("/v1/tasks/{foreign}")).await.json()["state"],
        "ready",
        "not cancelled"
    );
}

#[tokio::test]
async fn a_revoked_or_expired_key_and_one_of_a_deleted_tenant_stop_working_within_their_cache_time()
{
    let server = Server::start().await;
    let uuid = server.tenant.uuid();
    for (how, back) in [
        (
            "update api_key set revoked_at = now()".to_owned(),
            "update api_key set revoked_at = null".to_owned(),
        ),
        (
            "update api_key set expires_at = now()".to_owned(),
            "update api_key set expires_at = null".to_owned(),
        ),
        (
            format!("update tenant set state = 'deleted', deleted_at = now() where id = '{uuid}'"),
            format!("update tenant set state = 'active', deleted_at = null where id = '{uuid}'"),
        ),
    ] {
        assert_eq!(server.get("/v1/tasks").await.status, 200);
        server.db.sql(&how).await.unwrap();
        let refused = || async { (server.get("/v1/tasks").await.status == 401).then_some(()) };
        until_some("the key to be refused", Duration::from_secs(3), refused).await.unwrap();
        server.db.sql(&back).await.unwrap();
        let taken = || async { (server.get("/v1/tasks").await.status == 200).then_some(()) };
        until_some("the key to be taken again", Duration::from_secs(3), taken).await.unwrap();
    }
}

#[tokio::test]
async fn a_new_key_works_once_its_absence_is_forgotten() {
    let server = Server::start().await;
    let key = generate("live", &secret()).unwrap();
    let text = key.text.expose_secret().to_owned();
    assert_eq!(server.get_as(&text, "/v1/tasks").await.status, 401);
    let new = store::key::NewKey {
        id: key.id,
        tenant: server.tenant,
        name: "late".to_owned(),
        hash: key.hash.to_vec(),
        scopes: vec!["read".to_owned()],
        expires_at: None,
    };
    store::key::create(&server.admin, new, By::SYSTEM).await.unwrap();
    let taken = || async { (server.get_as(&text, "/v1/tasks").await.status == 200).then_some(()) };
    until_some("the new key to be taken", Duration::from_secs(3), taken).await.unwrap();
    let submit = server.post_as(&text, "/v1/tasks", &[], NOOP).await;
    assert_eq!(submit.code(), "scope_missing");
}

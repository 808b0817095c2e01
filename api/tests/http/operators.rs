//! The platform's operators: keys of their own, which open nothing of a tenant's.

use crate::client::request;
use crate::server::{ALL_SCOPES, Server, secret};
use api::routes::table::{Access, Endpoint, TABLE};
use futures::StreamExt;
use identity::OperatorScope;
use identity::key::generate_operator;
use runtime::config::ExposeSecret;
use std::time::Duration;
use store::audit::By;
use store::key::NewSecret;
use store::operator_key::{NewOperatorKey, Rotated};
use testkit::poll::until_some;

#[tokio::test]
async fn an_operator_is_told_whose_key_it_is() {
    let server = Server::start().await;
    let key = server.new_operator("ann", &["read", "admin"]).await;
    let answer = server.get_as(&key, "/v1/admin/operator").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    assert_eq!(json["name"], "ann");
    assert_eq!(json["scopes"], serde_json::json!(["read", "admin"]));
    assert!(json["expires_at"].is_null());
    assert!(key.contains(json["id"].as_str().unwrap()));
    assert!(!String::from_utf8_lossy(&answer.body).contains(&key), "no key in an answer");
}

#[tokio::test]
async fn a_credential_of_the_wrong_kind_is_refused_on_every_route_before_its_body() {
    let server = Server::start().await;
    let operator = server.new_operator("ann", &["read", "admin"]).await;
    let big = "x".repeat(400_000);
    let refused = async |endpoint: &Endpoint, key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let (verb, path) =
            (endpoint.verb.as_str(), endpoint.path.replace("{id}", "x").replace("{name}", "x"));
        let answer = request(server.addr, verb, &path, &headers, big.as_bytes()).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "wrong_kind_of_key"),
            "{endpoint:?}"
        );
    };
    let of_tenants = TABLE.iter().filter(|e| matches!(e.access, Access::Tenant(..)));
    let of_operators = TABLE.iter().filter(|e| matches!(e.access, Access::Operator(..)));
    let asked = of_tenants
        .map(|endpoint| refused(endpoint, &operator))
        .chain(of_operators.map(|endpoint| refused(endpoint, &server.key)));
    // Who sends a body that nobody reads waits for the connection's end.
    let asked = futures::stream::iter(asked).buffer_unordered(8).count().await;
    assert!(asked >= 30, "{asked}");
}

#[tokio::test]
async fn each_operators_route_takes_exactly_the_scope_of_the_table() {
    let server = Server::start().await;
    for scope in OperatorScope::ALL {
        let key = server.new_operator(scope.as_str(), &[scope.as_str()]).await;
        for endpoint in &TABLE {
            let Access::Operator(needed, _) = endpoint.access else { continue };
            let (verb, path) =
                (endpoint.verb.as_str(), endpoint.path.replace("{id}", "x").replace("{name}", "x"));
            let bearer = format!("Bearer {key}");
            let headers =
                [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
            let answer = request(server.addr, verb, &path, &headers, b"").await;
            if needed == scope {
                assert!(![401, 403, 405, 500].contains(&answer.status), "{endpoint:?} {answer:?}");
            } else {
                assert_eq!(answer.code(), "scope_missing", "{endpoint:?}");
            }
        }
    }
}

/// What `berth admin operator-key list|rotate|revoke` does.
#[tokio::test]
async fn an_operators_key_is_replaced_and_revoked_on_all_processes_within_two_seconds() {
    let server = Server::start().await;
    let twin = server.twin().await;
    let old = server.new_operator("ann", &["read", "admin"]).await;
    let id_of = |key: &str| key.split('_').nth(2).unwrap().to_owned();
    let status = async |addr, key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [("Authorization", bearer.as_str())];
        request(addr, "GET", "/v1/admin/operator", &headers, b"").await.status
    };
    for addr in [server.addr, twin.addr] {
        assert_eq!(status(addr, &old).await, 200);
    }
    let made = generate_operator("live", &secret()).unwrap();
    let new = made.text.expose_secret().to_owned();
    let secret = || NewSecret { id: made.id.clone(), hash: made.hash.to_vec() };
    let rotate = async |id: &str| {
        let overlap = Duration::from_secs(3600);
        store::operator_key::rotate(&server.admin, id, overlap, secret(), By::SYSTEM).await.unwrap()
    };
    let Rotated::Done { new: of_new, old: of_old } = rotate(&id_of(&old)).await else {
        panic!("it was not replaced before")
    };
    assert_eq!((of_new.name.as_str(), of_new.expires_at), ("ann", None));
    assert_eq!(of_old.replaced_by.as_deref(), Some(made.id.as_str()));
    assert_eq!(rotate(&id_of(&old)).await, Rotated::Already);
    for key in [&old, &new] {
        assert_eq!(status(twin.addr, key).await, 200, "both are good");
    }
    assert!(!is_free(&server, "ann").await, "the name went over");

    let revoke =
        async |id: &str| store::operator_key::revoke(&server.admin, id, By::SYSTEM).await.unwrap();
    assert!(revoke(&id_of(&new)).await.is_some());
    assert!(revoke(&id_of(&new)).await.is_none());
    for addr in [server.addr, twin.addr] {
        let refused = || async { (status(addr, &new).await == 401).then_some(()) };
        until_some("the key to be refused", Duration::from_secs(2), refused).await.unwrap();
        assert_eq!(status(addr, &old).await, 200);
    }
    let listed = store::operator_key::list(&server.admin).await.unwrap();
    assert_eq!(listed.iter().map(|key| key.id.clone()).collect::<Vec<_>>(), [id_of(&old)]);
    assert!(is_free(&server, "ann").await);
    let told = server.get_as(&old, "/v1/admin/audit?limit=3").await.json();
    let actions = [0, 1, 2].map(|row: usize| told["data"][row]["action"].as_str().unwrap());
    let wanted = ["operator_key.create", "operator_key.revoke", "operator_key.rotate"];
    assert_eq!(actions, wanted, "newest first; the last try to make one, too");
    assert!(!told.to_string().contains(&new[new.len() - 40..]), "no key in the audit");

    let later = server.new_operator("later", &["read"]).await;
    let ended = format!(
        "update operator_key set expires_at = now() - interval '1 s' where id = '{}'",
        id_of(&later)
    );
    server.db.sql(&ended).await.unwrap();
    let listed = store::operator_key::list(&server.admin).await.unwrap();
    assert!(listed.len() >= 2);
    let last = listed.last().unwrap();
    assert_eq!(last.id, id_of(&later), "the newest, after those that can be used");
}

/// Whether a key may be made under this name; makes it.
async fn is_free(server: &Server, name: &str) -> bool {
    let made = generate_operator("live", &secret()).unwrap();
    let (name, scopes) = (name.to_owned(), vec!["read".to_owned()]);
    let new =
        NewOperatorKey { id: made.id, name, hash: made.hash.to_vec(), scopes, expires_at: None };
    store::operator_key::create(&server.admin, new, By::SYSTEM).await.unwrap().is_some()
}

#[tokio::test]
async fn a_made_up_revoked_or_expired_operators_key_is_refused() {
    let server = Server::start().await;
    let unknown = generate_operator("live", &secret()).unwrap().text.expose_secret().to_owned();
    assert_eq!(server.get_as(&unknown, "/v1/admin/operator").await.code(), "unauthenticated");
    let none = request(server.addr, "GET", "/v1/admin/operator", &[], b"").await;
    assert_eq!(none.code(), "unauthenticated");
    for (name, sql) in [
        ("ann", "update operator_key set revoked_at = now()"),
        ("bob", "update operator_key set expires_at = now()"),
    ] {
        let key = server.new_operator(name, &["read"]).await;
        assert_eq!(server.get_as(&key, "/v1/admin/operator").await.status, 200);
        server.db.sql(sql).await.unwrap();
        let refused = || async {
            (server.get_as(&key, "/v1/admin/operator").await.status == 401).then_some(())
        };
        until_some("the key to be refused", Duration::from_secs(2), refused).await.unwrap();
    }
    let key = server.new_key(server.tenant, &ALL_SCOPES).await;
    assert_eq!(server.get_as(&key, "/v1/admin/operator").await.code(), "wrong_kind_of_key");
}

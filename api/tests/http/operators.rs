//! The platform's operators: keys of their own, which open nothing of a tenant's.

use crate::client::request;
use crate::server::{ALL_SCOPES, Server, secret};
use api::auth::OperatorScope;
use api::auth::key::generate_operator;
use api::routes::table::{Access, TABLE};
use runtime::config::ExposeSecret;
use std::time::Duration;
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
    let (mut tenants, mut operators) = (0, 0);
    for endpoint in &TABLE {
        let key = match endpoint.access {
            Access::Open(_) | Access::SignIn(_) => continue,
            Access::Tenant(..) => &operator,
            Access::Operator(..) => &server.key,
        };
        *(if key == &operator { &mut tenants } else { &mut operators }) += 1;
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
    }
    assert!(tenants >= 8 && operators >= 1);
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

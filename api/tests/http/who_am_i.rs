//! Everybody with a good credential is told whose it is, and what it may do; nobody else anything.

use crate::server::{ALL_SCOPES, Server};
use crate::users::{PASSWORD, server, sign_in, user};
use domain::access::Role;
use serde_json::{Value, json};

#[tokio::test]
async fn every_key_is_told_its_tenant_its_name_and_its_scopes() {
    let server = Server::start().await;
    for scopes in [&ALL_SCOPES[..], &["submit"]] {
        let key = server.new_key(server.tenant, scopes).await;
        let own = server.get_as(&key, "/v1/whoami").await;
        assert_eq!(own.status, 200, "{own:?}");
        let own = own.json();
        assert_eq!(own["tenant"], server.tenant.to_string());
        assert_eq!(
            (&own["tenant_name"], &own["tenant_state"]),
            (&json!("first"), &json!("active"))
        );
        let id = key.split('_').nth(2).unwrap();
        let named =
            json!({"id": id, "name": "test", "scopes": scopes, "user": null, "expires_at": null});
        assert_eq!((&own["key"], &own["user"]), (&named, &Value::Null));
        let may = own["permissions"].as_array().unwrap();
        assert!(may.contains(&json!("tasks.submit")) && may.contains(&json!("self.read")));
        assert_eq!(may.contains(&json!("tasks.read")), scopes.contains(&"read"));
    }
    let operator = server.new_operator("ann", &["read"]).await;
    assert_eq!(server.get_as(&operator, "/v1/whoami").await.code(), "wrong_kind_of_key");
    assert_eq!(server.get_as("nothing", "/v1/whoami").await.status, 401);
}

#[tokio::test]
async fn a_user_who_is_signed_in_is_told_their_address_and_their_role() {
    let server = server().await;
    let id = user(&server, "ann@example.com", Role::Viewer).await;
    let session = sign_in(&server, "ann@example.com", PASSWORD).await.json();
    let own = server.get_as(session["access_token"].as_str().unwrap(), "/v1/whoami").await.json();
    assert_eq!(own["user"], json!({"id": id, "email": "ann@example.com", "role": "viewer"}));
    assert_eq!(own["key"], Value::Null);
    assert_eq!(
        own["permissions"],
        json!(["tasks.read", "usage.read", "sessions.own", "self.read"])
    );
}

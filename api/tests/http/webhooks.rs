//! Webhooks over HTTP: what is wrong with one is said by pointer, its secret is shown once, and its log is paged.

use crate::client::{Answer, request};
use crate::matrix::WEBHOOK;
use crate::server::Server;
use serde_json::{Value, json};

async fn ask(
    server: &Server,
    verb: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> Answer {
    let bearer = format!("Bearer {}", server.key);
    let mut all = vec![("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    all.extend_from_slice(headers);
    let body = if body.is_null() { String::new() } else { body.to_string() };
    request(server.addr, verb, path, &all, body.as_bytes()).await
}

#[tokio::test]
async fn a_webhook_is_stored_shown_without_its_secret_changed_and_deleted() {
    let server = Server::start().await;
    let webhook: Value = serde_json::from_str(WEBHOOK).unwrap();
    let path = "/v1/webhooks/mine";
    let made = ask(&server, "PUT", path, &[("If-None-Match", "*")], webhook.clone()).await;
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")), "{made:?}");
    let mut shown = made.json();
    let secret = shown.as_object_mut().unwrap().remove("secret").unwrap();
    assert!(secret.as_str().unwrap().starts_with("whsec_"));
    assert_eq!(server.get(path).await.json(), shown);
    assert_eq!(server.get("/v1/webhooks").await.json()["data"], json!([shown]));
    let again = ask(&server, "PUT", path, &[], webhook.clone()).await;
    assert_eq!((again.status, again.json()), (200, shown), "as it was");
    let mut changed = webhook.clone();
    changed["paused"] = json!(true);
    let stale = ask(&server, "PUT", path, &[("If-Match", "\"7\"")], changed.clone()).await;
    assert_eq!((stale.status, stale.code().as_str()), (412, "version_mismatch"));
    let put = ask(&server, "PUT", path, &[("If-Match", "\"1\"")], changed).await;
    assert_eq!(
        (put.status, put.header("etag"), &put.json()["paused"]),
        (200, Some("\"2\""), &json!(true))
    );
    assert_eq!(
        ask(&server, "DELETE", path, &[], Value::Null).await.json(),
        json!({"name": "mine", "deleted": true})
    );
    assert_eq!(server.get(path).await.code(), "not_found");
}

#[tokio::test]
async fn what_is_wrong_with_one_is_pointed_at() {
    let server = Server::start().await;
    let wrong = json!({"url": "http://user@/", "events": ["berth.task.failed", "tasks"], "secret": "x",
        "headers": {"webhook-id": "1"}});
    let refused = ask(&server, "PUT", "/v1/webhooks/mine", &[], wrong).await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "validation_failed"));
    assert_eq!(refused.pointers(), ["/url", "/events/1", "/headers", "/secret"]);
    let template = json!({"url": "https://a.example/", "payload": {"a": {"$event": "x"}}});
    let refused = ask(&server, "PUT", "/v1/webhooks/mine", &[], template).await;
    assert_eq!(
        (refused.status, refused.pointers()),
        (422, vec!["/payload".to_owned()]),
        "{refused:?}"
    );
    let name =
        ask(&server, "PUT", "/v1/webhooks/Mine", &[], serde_json::from_str(WEBHOOK).unwrap()).await;
    assert_eq!((name.status, name.pointers()), (400, vec!["path:name".to_owned()]));
    server.filled("/v1/webhooks/{name}").await;
    let backwards = json!({"from": "2030-01-02T00:00:00Z", "until": "2030-01-01T00:00:00Z"});
    let refused = ask(&server, "POST", "/v1/webhooks/free/replay", &[], backwards).await;
    assert_eq!((refused.status, refused.pointers()), (422, vec!["/until".to_owned()]));
}

#[tokio::test]
async fn a_tenant_has_fifty_at_most() {
    let server = Server::start().await;
    let webhook: Value = serde_json::from_str(WEBHOOK).unwrap();
    for number in 0..50 {
        let path = format!("/v1/webhooks/w{number}");
        assert_eq!(ask(&server, "PUT", &path, &[], webhook.clone()).await.status, 201);
    }
    let refused = ask(&server, "PUT", "/v1/webhooks/more", &[], webhook.clone()).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "conflict"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("50 webhooks"), "{refused:?}");
    assert_eq!(ask(&server, "PUT", "/v1/webhooks/w7", &[], webhook).await.status, 200);
}

#[tokio::test]
async fn deliveries_are_paged_newest_first_and_a_repeated_call_sends_one() {
    let server = Server::start().await;
    server.filled("/v1/webhooks/{name}").await;
    let mut ids = Vec::new();
    for number in 0..3 {
        let key = format!("test-{number}");
        let once = [("Idempotency-Key", key.as_str())];
        let made = ask(&server, "POST", "/v1/webhooks/free/test", &once, Value::Null).await;
        assert_eq!(made.status, 202, "{made:?}");
        let again = ask(&server, "POST", "/v1/webhooks/free/test", &once, Value::Null).await;
        assert_eq!(again.json()["id"], made.json()["id"]);
        ids.insert(0, made.json()["id"].clone());
    }
    let mut seen = Vec::new();
    let mut path = "/v1/webhooks/free/deliveries?limit=2&state=pending".to_owned();
    loop {
        let page = server.get(&path).await.json();
        seen.extend(page["data"].as_array().unwrap().iter().map(|one| one["id"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/webhooks/free/deliveries?limit=2&state=pending&cursor={cursor}");
    }
    assert_eq!(seen, ids);
    let none = server.get("/v1/webhooks/free/deliveries?state=failed").await.json();
    assert_eq!(none["data"], json!([]));
    let one = server
        .get(&format!("/v1/webhooks/free/deliveries/{}", ids[0].as_str().unwrap()))
        .await
        .json();
    assert_eq!(one["type"], "berth.webhook.test");
    assert!(one["body"].as_str().unwrap().contains("berth.webhook.test"));
    assert_eq!(server.get("/v1/webhooks/free/deliveries?state=lost").await.status, 400);
    assert_eq!(server.get("/v1/webhooks/none/deliveries").await.code(), "not_found");
}

#[tokio::test]
async fn a_secret_is_in_one_response_and_nowhere_else() {
    let server = Server::start().await;
    server.filled("/v1/webhooks/{name}").await;
    let once = [("Idempotency-Key", "rotate")];
    let rotate =
        async || ask(&server, "POST", "/v1/webhooks/free/rotate", &once, Value::Null).await;
    let (first, again) = (rotate().await, rotate().await);
    let secret = first.json()["secret"].as_str().unwrap().to_owned();
    assert_eq!((again.status, &again.json()["secret"]), (200, &Value::Null));
    let kept = server
        .db
        .sql("select coalesce(string_agg(convert_from(answer, 'UTF8'), ''), '') from idempotency")
        .await;
    let audit = server.db.sql("select string_agg(a::text, '') from audit a").await.unwrap();
    assert!(!kept.unwrap().contains(&secret) && !audit.contains(&secret));
    let stored = server.db.sql("select secret from webhook").await.unwrap();
    assert_eq!(stored.trim(), secret);
}

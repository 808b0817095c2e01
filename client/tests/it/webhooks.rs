//! What the verbs of webhooks ask for.

use crate::server::{Line, Server};
use client::{
    Client, DeliveryQuery, PageRequest, ReplayOf, WebhookPut, WebhookReplay, WebhookRotate,
};
use domain::webhook::DeliveryState;
use std::time::Duration;

const DELIVERY: &str = r#"{"id":"delivery_0190a6f3c1d27a3e8b1f0c2d4e5f6071","event_id":null,"type":"berth.webhook.test",
    "subject":"ops","time":"2030-01-31T12:00:00Z","state":"pending","tries":0,"due_at":"2030-01-31T12:00:00Z","ended_at":null,"log":[]}"#;
const WEBHOOK: &str = r#"{"name":"ops","version":3,"url":"https://a.example","events":[],"task_name":null,"labels":{},"schedule":null,
    "workflow":null,"headers":{},"payload":null,"ordered":false,"paused":false,"disabled_at":null,"disabled_reason":null,"failures":0,
    "failing_since":null,"old_secret_until":null,"created_at":"2030-01-31T12:00:00Z","updated_at":"2030-01-31T12:00:00Z"}"#;

fn client(server: &Server) -> Client {
    Client::builder(&server.url).api_key("berth_test_key").build().unwrap()
}

#[tokio::test]
async fn each_verb_asks_for_its_route_and_each_write_has_a_key() {
    let name = "ops".parse().unwrap();
    let mut script = vec![Line::json(201, WEBHOOK.replacen('{', r#"{"secret":"whsec_x","#, 1))];
    script.extend([(); 2].map(|()| Line::json(200, WEBHOOK)));
    script.push(Line::json(202, DELIVERY));
    script.push(Line::json(202, r#"{"deliveries":7,"is_cut":false}"#));
    script.extend([(); 2].map(|()| Line::json(200, DELIVERY)));
    script.push(Line::json(200, r#"{"name":"ops","deleted":true}"#));
    let server = Server::with(script).await;
    let client = client(&server);
    let put: WebhookPut = serde_json::from_str(r#"{"url":"https://a.example"}"#).unwrap();
    let stored = client.put_webhook(&name, &put, Some(0)).await.unwrap();
    assert_eq!(stored.secret.as_deref(), Some("whsec_x"));
    let rotate =
        WebhookRotate { keep_old: Some(Duration::from_hours(1).into()), ..Default::default() };
    assert_eq!(client.rotate_webhook(&name, &rotate).await.unwrap().secret, None);
    assert_eq!(client.resume_webhook(&name).await.unwrap().version, 3);
    let sent = client.test_webhook(&name).await.unwrap();
    assert_eq!(sent.state, DeliveryState::Pending);
    let from = "2030-01-31T12:00:00Z".parse().unwrap();
    let replay = WebhookReplay { from, until: None, only: ReplayOf::All };
    assert_eq!(client.replay_webhook(&name, &replay).await.unwrap().deliveries, 7);
    client.webhook_delivery(&name, sent.id).await.unwrap();
    client.replay_delivery(&name, sent.id).await.unwrap();
    assert!(client.delete_webhook(&name, None).await.unwrap().deleted);
    let requests = server.requests();
    let sent: Vec<_> =
        requests.iter().map(|r| (r.line.as_str(), r.key.is_some(), r.body.as_str())).collect();
    let id = "delivery_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
    let (one, again) = (
        format!("GET /v1/webhooks/ops/deliveries/{id}"),
        format!("POST /v1/webhooks/ops/deliveries/{id}/replay"),
    );
    let put = r#"{"url":"https://a.example","ordered":false,"paused":false}"#;
    assert_eq!(
        sent,
        [
            ("PUT /v1/webhooks/ops", false, put),
            ("POST /v1/webhooks/ops/rotate", true, r#"{"keep_old":"1h"}"#),
            ("POST /v1/webhooks/ops/resume", true, ""),
            ("POST /v1/webhooks/ops/test", true, ""),
            (
                "POST /v1/webhooks/ops/replay",
                true,
                r#"{"from":"2030-01-31T12:00:00Z","only":"all"}"#
            ),
            (one.as_str(), false, ""),
            (again.as_str(), true, ""),
            ("DELETE /v1/webhooks/ops", false, ""),
        ]
    );
}

#[tokio::test]
async fn deliveries_are_asked_for_by_state_and_type_and_page() {
    let page = format!(r#"{{"data":[{DELIVERY}],"next_cursor":"c1"}}"#);
    let server = Server::with([Line::json(200, page.clone()), Line::json(200, page)]).await;
    let (client, name) = (client(&server), "ops".parse().unwrap());
    let query = DeliveryQuery {
        state: Some(DeliveryState::Failed),
        event_type: Some("berth.task.failed".to_owned()),
    };
    let request = PageRequest { limit: Some(5), cursor: None };
    let first = client.webhook_deliveries(&name, &query, &request).await.unwrap();
    let next = first.next(&request).unwrap();
    client.webhook_deliveries(&name, &DeliveryQuery::default(), &next).await.unwrap();
    let lines: Vec<_> = server.requests().into_iter().map(|request| request.line).collect();
    let path = "GET /v1/webhooks/ops/deliveries";
    assert_eq!(
        lines,
        [
            format!("{path}?state=failed&type=berth.task.failed&limit=5"),
            format!("{path}?limit=5&cursor=c1")
        ]
    );
}

//! The public status, and what canaries report.

use crate::client::{Answer, request};
use crate::server::Server;
use chrono::{DurationRound, TimeDelta};
use serde_json::{Value, json};

const SHOWN: [(&str, &str); 1] = [("BERTH_API__PUBLIC_STATUS", "true")];

/// What a canary saw in this hour.
pub fn report(submits: u32, accepted: u32) -> Value {
    let hour = runtime::clock::wall().duration_trunc(TimeDelta::hours(1)).unwrap();
    let mut lateness = [0; 15];
    lateness[3] = accepted;
    json!({"start": "0190a6f3-c1d2-7a3e-8b1f-0c2d4e5f6071", "hour": hour, "submits": submits, "accepted": accepted,
        "due": accepted, "reached": accepted, "on_time": accepted, "lateness": lateness, "failing_since": null})
}

async fn put(server: &Server, key: &str, name: &str, report: &Value) -> Answer {
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let path = format!("/v1/admin/canaries/{name}");
    request(server.addr, "PUT", &path, &headers, report.to_string().as_bytes()).await
}

async fn everybody(server: &Server, path: &str) -> Answer {
    request(server.addr, "GET", path, &[("Accept", "text/html, application/json")], b"").await
}

#[tokio::test]
async fn everybody_reads_what_canaries_report() {
    let server = Server::start_with(&SHOWN).await;
    let canary = server.new_operator("canary", &["report"]).await;
    for _ in 0..2 {
        let stored = put(&server, &canary, "eu", &report(1000, 999)).await;
        assert_eq!((stored.status, stored.json()), (200, report(1000, 999)));
    }
    let status = everybody(&server, "/v1/status").await.json();
    assert_eq!(status["health"], "operational");
    let figures = json!({"submits": 1000, "accepted": 999, "due": 999, "reached": 999, "on_time": 999,
        "late_p50_ms": 50, "late_p99_ms": 50});
    assert_eq!(status["recent"], figures);
    let days = status["days"].as_array().unwrap();
    assert_eq!((days.len(), &days[0]["submits"]), (1, &json!(1000)));

    let page = String::from_utf8(everybody(&server, "/status").await.body).unwrap();
    assert!(page.contains("All is well") && page.contains("99.90 % in 24 hours"), "{page}");
    assert!(page.contains("<title>") && !page.contains("Sign out"), "{page}");
    // Who is signed in or not finds it.
    let sign_in = String::from_utf8(everybody(&server, "/sign-in").await.body).unwrap();
    assert!(sign_in.contains("href=\"/status\""), "{sign_in}");
}

#[tokio::test]
async fn a_report_that_cannot_be_true_is_refused_and_says_where() {
    let server = Server::start_with(&SHOWN).await;
    let canary = server.new_operator("canary", &["report"]).await;
    let mut wrong = report(1, 2);
    wrong["hour"] = json!("2020-01-01T00:30:00Z");
    let answer = put(&server, &canary, "eu", &wrong).await;
    let pointers: Vec<_> = answer.json()["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["pointer"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((answer.status, pointers), (422, vec!["/accepted".to_owned(), "/hour".to_owned()]));
    assert_eq!(put(&server, &canary, "No%20name", &report(1, 1)).await.status, 400);
    let status = everybody(&server, "/v1/status").await.json();
    assert_eq!((&status["health"], &status["days"]), (&json!("unknown"), &json!([])));
    let page = String::from_utf8(everybody(&server, "/status").await.body).unwrap();
    assert!(
        page.contains("No check has reported") && page.contains("unknown in 24 hours"),
        "{page}"
    );
}

#[tokio::test]
async fn what_is_not_public_is_not_there() {
    let server = Server::start().await;
    let canary = server.new_operator("canary", &["report"]).await;
    assert_eq!(put(&server, &canary, "eu", &report(1, 1)).await.status, 200);
    for path in ["/v1/status", "/status"] {
        assert_eq!(everybody(&server, path).await.status, 404, "{path}");
    }
    let sign_in = String::from_utf8(everybody(&server, "/sign-in").await.body).unwrap();
    assert!(!sign_in.contains("/status"), "{sign_in}");
}

//! What is documented is what is there: routes, methods, answers.

use crate::client::request;
use crate::server::Server;
use api::routes::table::TABLE;
use std::collections::BTreeSet;

#[tokio::test]
async fn the_spec_lists_exactly_the_routes_that_answer() {
    let server = Server::start().await;
    let spec = request(server.addr, "GET", "/openapi.json", &[], b"").await;
    assert_eq!(spec.status, 200);
    let spec = spec.json();
    assert_eq!(spec["openapi"], "3.1.0");
    let mut documented = BTreeSet::new();
    for (path, item) in spec["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            documented.insert((method.to_uppercase(), path.clone()));
        }
    }
    // Each documented path is asked with each method: it is there exactly where the spec says so.
    let bearer = format!("Bearer {}", server.key);
    let mut answering = BTreeSet::new();
    let paths: BTreeSet<_> = documented.iter().map(|(_, path)| path.clone()).collect();
    for path in &paths {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
            let headers =
                [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
            let target = server.filled(path).await;
            let answer = request(server.addr, method, &target, &headers, b"").await;
            if answer.status == 405 {
                let allow = answer.header("allow").expect("Allow").to_owned();
                let methods: BTreeSet<_> =
                    allow.split(", ").map(|m| (m.to_owned(), path.clone())).collect();
                assert!(methods.is_subset(&documented), "{path}: {allow}");
            } else {
                assert_ne!(answer.status, 404, "{method} {path}");
                answering.insert((method.to_owned(), path.clone()));
            }
        }
    }
    assert_eq!(answering, documented);
    assert_eq!(documented.len(), TABLE.len());
}

#[tokio::test]
async fn what_is_not_in_the_table_is_a_404_in_the_usual_form() {
    let server = Server::start().await;
    let id = server.noop().await;
    for path in [
        "/".to_owned(),
        "/v1".to_owned(),
        "/v1/".to_owned(),
        "/v1/tasks/".to_owned(),
        "/V1/tasks".to_owned(),
        "//v1/tasks".to_owned(),
        "/v1//tasks".to_owned(),
        "/v1/tasks/batch/".to_owned(),
        format!("/v1/tasks/{id}/"),
        format!("/v1/tasks/{id}/explain/more"),
        "/v1/admin/nothing".to_owned(),
        "/v1/tasks%2fbatch".to_owned(),
        "/.env".to_owned(),
    ] {
        for method in ["GET", "POST", "DELETE"] {
            let bearer = format!("Bearer {}", server.key);
            let headers = [("Authorization", bearer.as_str()), ("X-HTTP-Method-Override", "GET")];
            let answer = request(server.addr, method, &path, &headers, b"").await;
            let known = path == "/v1/tasks%2fbatch";
            assert!(
                answer.status == 404 || known && answer.status == 405,
                "{method} {path}: {answer:?}"
            );
        }
    }
    let answer = server.get("/nothing/here").await;
    assert_eq!(answer.code(), "route_not_found");
}

#[tokio::test]
async fn probes_and_metrics_need_no_key_and_show_none() {
    let server = Server::start().await;
    server.noop().await;
    let live = request(server.addr, "GET", "/healthz", &[], b"").await;
    assert_eq!((live.status, &live.json()["ok"]), (200, &serde_json::json!(true)));
    let ready = || async {
        let answer = request(server.addr, "GET", "/readyz", &[], b"").await;
        (answer.status == 200).then_some(())
    };
    testkit::poll::until_some("the API to be ready", std::time::Duration::from_secs(5), ready)
        .await
        .unwrap();
    server.get("/v1/tasks/secret-path?limit=1").await;
    let metrics = request(server.addr, "GET", "/metrics", &[], b"").await;
    assert!(metrics.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")));
    let text = String::from_utf8(metrics.body).unwrap();
    assert!(
        text.contains(
            "berth_http_requests_total{method=\"POST\",route=\"/v1/tasks\",status=\"201\"}"
        ),
        "{text}"
    );
    assert!(text.contains("berth_http_request_seconds_bucket{method=\"POST\",route=\"/v1/tasks\""));
    assert!(text.contains("route=\"/v1/tasks/{id}\"") && !text.contains("secret-path"));
    assert!(!text.contains(&server.key) && !text.contains(&server.tenant.to_string()));
}

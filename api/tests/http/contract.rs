//! What is documented is what is there: routes, methods, answers.

use crate::client::{Answer, request};
use crate::server::Server;
use api::request::BodyRule;
use api::routes::table::{Access, Endpoint, TABLE, Verb};
use std::collections::BTreeSet;

#[tokio::test]
async fn the_spec_lists_exactly_the_routes_that_answer() {
    let server = Server::start_with(&[("BERTH_API__PUBLIC_STATUS", "true")]).await;
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
                let with_head = documented.iter().filter(|(method, _)| method == "GET");
                let with_head = with_head.map(|(_, path)| ("HEAD".to_owned(), path.clone()));
                let known: BTreeSet<_> = documented.iter().cloned().chain(with_head).collect();
                assert!(methods.is_subset(&known), "{path}: {allow}");
            } else if method == "HEAD" {
                // What GET has, HEAD has; it is no operation of its own.
                assert!(documented.contains(&("GET".to_owned(), path.clone())), "HEAD {path}");
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
async fn head_answers_as_get_does_and_without_a_body() {
    let server = Server::start().await;
    let bearer = format!("Bearer {}", server.key);
    for endpoint in TABLE.iter().filter(|endpoint| endpoint.verb == Verb::Get) {
        let mut target = server.filled(endpoint.path).await;
        if endpoint.name == "task.logs" {
            // A stream that lasts for as long as the task.
            target.push_str("?follow=true");
        }
        let ask = async |method| {
            let headers = [("Authorization", bearer.as_str()), ("Accept-Encoding", "identity")];
            request(server.addr, method, &target, &headers, b"").await
        };
        let head = ask("HEAD").await;
        assert!(head.body.is_empty(), "{target}: {head:?}");
        if endpoint.name == "task.logs" {
            assert_eq!(
                (head.status, head.header("content-type")),
                (200, Some("text/event-stream"))
            );
            continue;
        }
        let get = ask("GET").await;
        assert_eq!(head.status, get.status, "{target}");
        let names = |answer: &Answer| -> BTreeSet<String> {
            answer.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect()
        };
        assert_eq!(names(&head), names(&get), "{target}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{target}");
        // Figures are others each time.
        let figures = ["metrics.read", "health.live", "health.ready", "limits.read"];
        if !figures.contains(&endpoint.name) && get.status == 200 {
            assert_eq!(head.header("content-length"), get.header("content-length"), "{target}");
        }
    }
}

#[tokio::test]
async fn methods_that_a_path_does_not_have_are_told_with_those_that_it_has() {
    let server = Server::start().await;
    for path in
        ["/", "/docs", "/v1/tasks", "/v1/tasks/batch", "/v1/schedules/s/pause", "/v1/sign-up"]
    {
        for method in ["TRACE", "OPTIONS", "BREW", "get"] {
            let answer = request(server.addr, method, path, &[], b"").await;
            assert_eq!((answer.status, answer.code().as_str()), (405, "method_not_allowed"));
            let allow = answer.header("allow").unwrap_or_default();
            assert!(allow.contains("GET, HEAD") || allow == "POST", "{method} {path}: {allow}");
        }
    }
}

#[tokio::test]
async fn a_browser_at_the_printed_address_is_led_to_the_page() {
    let server = Server::start().await;
    for (path, status, page) in [("/", 303, "/sign-in"), ("/docs/", 308, "/docs")] {
        let answer = request(server.addr, "GET", path, &[], b"").await;
        assert_eq!((answer.status, answer.header("location")), (status, Some(page)), "{path}");
        assert_eq!(request(server.addr, "GET", page, &[], b"").await.status, 200);
    }
}

#[tokio::test]
async fn where_a_body_may_be_left_out_nothing_is_an_empty_object_whatever_type_is_declared() {
    let server = Server::start().await;
    let bearer = format!("Bearer {}", server.key);
    let optional = |endpoint: &&Endpoint| {
        endpoint.verb == Verb::Post && matches!(endpoint.body, BodyRule::Empty | BodyRule::Optional)
    };
    let tenants = |endpoint: &&Endpoint| matches!(endpoint.access, Access::Tenant(..));
    let mut asked = 0;
    for endpoint in TABLE.iter().filter(optional).filter(tenants) {
        for (kind, body) in [
            (None, ""),
            (Some("application/x-www-form-urlencoded"), ""),
            (Some("application/json"), ""),
            (None, "{}"),
        ] {
            let target = server.filled(endpoint.path).await;
            let mut headers = vec![("Authorization", bearer.as_str())];
            headers.extend(kind.map(|kind| ("Content-Type", kind)));
            let answer = request(server.addr, "POST", &target, &headers, body.as_bytes()).await;
            assert!([200, 201, 202].contains(&answer.status), "{kind:?} {target}: {answer:?}");
            asked += 1;
        }
    }
    assert!(asked >= 5 * 4, "{asked}");
}

#[tokio::test]
async fn what_is_not_in_the_table_is_a_404_in_the_usual_form() {
    let server = Server::start().await;
    let id = server.noop().await;
    for path in [
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
async fn probes_need_no_key_and_metrics_an_operators_and_show_none() {
    let settings = [("BERTH_API__METRICS_LISTEN", "127.0.0.1:0")];
    let server = Server::start_with(&settings).await;
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
    let none = request(server.addr, "GET", "/metrics", &[], b"").await;
    assert_eq!((none.status, none.code().as_str()), (401, "unauthenticated"));
    assert_eq!(server.get("/metrics").await.code(), "wrong_kind_of_key");
    let operator = server.new_operator("prometheus", &["read"]).await;
    let metrics = server.get_as(&operator, "/metrics").await;
    let own = server.handle.as_ref().unwrap().metrics.unwrap();
    let open = request(own, "GET", "/metrics", &[], b"").await;
    assert_eq!(open.status, 200);
    assert!(String::from_utf8(open.body).unwrap().contains("berth_http_requests_total"));
    for (path, status) in [("/healthz", 200), ("/readyz", 200), ("/v1/whoami", 404), ("/docs", 404)]
    {
        assert_eq!(request(own, "GET", path, &[], b"").await.status, status, "{path}");
    }
    // What is logged can be changed at the other address only.
    for method in ["GET", "PUT", "DELETE"] {
        let key = format!("Bearer {operator}");
        let headers = [("authorization", key.as_str())];
        let public = request(server.addr, method, "/log-level", &headers, b"debug").await;
        assert_eq!(public.code(), "route_not_found", "{method}");
    }
    assert_eq!(request(own, "PUT", "/log-level", &[], b"debgu").await.status, 400);
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

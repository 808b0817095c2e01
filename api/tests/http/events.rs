//! `GET /v1/events`: a tenant's events as lines and as a stream, with filters, from a place that a reader keeps.

use crate::client::{Answer, request};
use crate::server::Server;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll::until;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const SOON: Duration = Duration::from_secs(30);

async fn page(
    server: &Server,
    key: &str,
    query: &str,
    cursor: Option<&str>,
) -> (Vec<Value>, String) {
    let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
    let answer = server.get_as(key, &format!("/v1/events?limit=1000{query}{cursor}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let next = answer.header("next-cursor").unwrap().to_owned();
    let text = String::from_utf8(answer.body).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), next)
}

/// All events from `cursor` on, until there are `wanted`: what other transactions of the cluster hold back comes later.
async fn events(
    server: &Server,
    key: &str,
    query: &str,
    cursor: &str,
    wanted: usize,
) -> Vec<Value> {
    let (seen, place) =
        (std::cell::RefCell::new(Vec::new()), std::cell::RefCell::new(cursor.to_owned()));
    let enough = async || {
        let from = place.borrow().clone();
        let (more, next) = page(server, key, query, Some(&from)).await;
        seen.borrow_mut().extend(more);
        *place.borrow_mut() = next;
        seen.borrow().len() >= wanted
    };
    until(&format!("{wanted} events"), SOON, enough).await.unwrap();
    seen.into_inner()
}

async fn cancelled(server: &Server, name: &str) -> String {
    let task = json!({"run": {"noop": {}}, "name": name, "labels": {"team": "a"}}).to_string();
    let id = server.post("/v1/tasks", task).await.json()["id"].as_str().unwrap().to_owned();
    let answer = server.post(&format!("/v1/tasks/{id}/cancel"), "").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    id
}

#[tokio::test]
async fn events_are_cloud_events_from_the_first_request_on_each_once() {
    let server = Server::start().await;
    let key = server.key.clone();
    cancelled(&server, "before").await;
    let (none, first) = page(&server, &key, "&from=now", None).await;
    assert_eq!(none, [] as [Value; 0], "nobody had asked for them");
    let ids = [cancelled(&server, "one").await, cancelled(&server, "two").await];

    let all = events(&server, &key, "", &first, 2).await;
    let subjects: Vec<_> = all.iter().map(|event| event["subject"].as_str().unwrap()).collect();
    assert_eq!(subjects, ids);
    let event = &all[0];
    assert_eq!(
        [&event["specversion"], &event["type"], &event["datacontenttype"]],
        ["1.0", "berth.task.cancelled", "application/json"].map(|text| json!(text)).each_ref()
    );
    assert!(event["source"].as_str().unwrap().starts_with("urn:berth:"), "{event}");
    let data = &event["data"];
    assert_eq!(
        (&data["name"], &data["labels"]["team"], &data["attempt"]),
        (&json!("one"), &json!("a"), &json!(0))
    );
    // Whoever asks from the same place again gets the same, with the same ids.
    assert_eq!(events(&server, &key, "", &first, 2).await, all);

    let named = events(&server, &key, "&name=two", &first, 1).await;
    assert_eq!(named, [all[1].clone()]);
    let of_type =
        events(&server, &key, "&type=berth.schedule.*,berth.task.cancelled&name=one", &first, 1)
            .await;
    assert_eq!(of_type, [all[0].clone()]);
    let (none, next) = page(&server, &key, "&type=berth.task.failed", Some(&first)).await;
    assert_eq!(
        (none.len(), page(&server, &key, "", Some(&next)).await.0.len()),
        (0, 0),
        "read past all of them"
    );
}

#[tokio::test]
async fn each_tenant_reads_its_own_events_and_each_caller_what_it_may() {
    let server = Server::start().await;
    let other = server.new_tenant("other").await;
    let others = server.new_key(other, &["read"]).await;
    let key = server.key.clone();
    let (_, first) = page(&server, &key, "&from=now", None).await;
    let (_, of_other) = page(&server, &others, "&from=now", None).await;
    cancelled(&server, "mine").await;
    events(&server, &key, "", &first, 1).await;
    assert_eq!(page(&server, &others, "", Some(&of_other)).await.0, [] as [Value; 0]);
    assert_eq!(page(&server, &others, "", None).await.0, [] as [Value; 0]);
    // A cursor is its tenant's.
    let stolen = server.get_as(&others, &format!("/v1/events?cursor={first}")).await;
    assert_eq!((stolen.status, stolen.code()), (400, "invalid_cursor".to_owned()));
    for (wrong, pointer) in [
        ("type=task.failed", "query:type"),
        ("limit=0", "query:limit"),
        ("from=then", "query:from"),
        ("task=x", "query:task"),
    ] {
        let answer = server.get(&format!("/v1/events?{wrong}")).await;
        assert_eq!(
            (answer.status, &answer.json()["errors"][0]["pointer"]),
            (400, &json!(pointer)),
            "{wrong}"
        );
    }
    let submitter = server.new_key(server.tenant, &["submit"]).await;
    assert_eq!(server.get_as(&submitter, "/v1/events").await.code(), "scope_missing");
}

/// Reads a stream until it holds `words`.
async fn heard(socket: &mut TcpStream, words: &str) -> String {
    let mut text = String::new();
    let mut bytes = [0; 4096];
    let read = async {
        while !text.contains(words) {
            let got = socket.read(&mut bytes).await.unwrap();
            assert!(got > 0, "it ended without {words}: {text}");
            text.push_str(&String::from_utf8_lossy(&bytes[..got]));
        }
    };
    runtime::clock::timeout(SOON, read).await.unwrap();
    text
}

async fn stream(server: &Server, last_id: Option<&str>) -> TcpStream {
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let last = last_id.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "GET /v1/events?type=berth.task.* HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\n{last}\r\n",
        server.key
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    socket
}

#[tokio::test]
async fn a_stream_tells_what_comes_and_goes_on_where_it_was_cut() {
    let server = Server::start().await;
    let mut socket = stream(&server, None).await;
    let head = heard(&mut socket, "retry:").await;
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"), "{head}");
    let one = cancelled(&server, "one").await;
    let told = heard(&mut socket, &one).await;
    let told = if told.contains("\n\n") { told } else { told + &heard(&mut socket, "\n\n").await };
    assert!(told.contains("event: berth.task.cancelled"), "{told}");
    let id = told.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().trim().to_owned();
    drop(socket);

    let two = cancelled(&server, "two").await;
    let mut socket = stream(&server, Some(&id)).await;
    let told = heard(&mut socket, &two).await;
    assert!(!told.contains(&one), "{told}");
    let refused: Answer = {
        let bearer = format!("Bearer {}", server.key);
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Accept", "text/event-stream"),
            ("Last-Event-ID", "nonsense"),
        ];
        request(server.addr, "GET", "/v1/events", &headers, b"").await
    };
    assert_eq!((refused.status, refused.code()), (400, "invalid_cursor".to_owned()));
}

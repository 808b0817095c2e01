//! Anything a client may get wrong is a clear 4xx that says where, stores nothing, and is never a 500.

use crate::client::{request, send};
use crate::mistakes::{command, mistakes, noop_with};
use crate::server::{SCHEDULE, Server};
use serde_json::{Value, json};

#[tokio::test]
async fn every_mistake_is_a_422_that_says_where_and_stores_nothing() {
    let server = Server::start().await;
    for (body, pointers) in mistakes() {
        let answer = server.post("/v1/tasks", body.to_string()).await;
        let shown: String = body.to_string().chars().take(200).collect();
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "validation_failed"),
            "{shown}: {answer:?}"
        );
        assert_eq!(answer.pointers(), pointers, "{shown}");
        assert_eq!(answer.json()["retryable"], false);
    }
    assert_eq!(server.stored().await, 0);
}

#[tokio::test]
async fn what_could_never_run_is_refused_on_every_way_in() {
    let server = Server::start().await;
    let key = server.key.clone();
    let long = "a".repeat(131_072);
    for (task, place) in [
        (command(json!({"argv": ["x", &long]})), "/run/command/argv/1"),
        (command(json!({"argv": ["x"], "env": {"A": &long}})), "/run/command/env/A"),
        (command(json!({"argv": ["a".repeat(256)]})), "/run/command/argv/0"),
        (
            json!({"run": {"noop": {}}, "expire_if_late": true, "delay_tolerance": "0s"}),
            "/delay_tolerance",
        ),
    ] {
        let single = server.post("/v1/tasks", task.to_string()).await;
        assert_eq!((single.status, single.pointers()), (422, vec![place.to_owned()]));
        let batch = json!({"tasks": [task]}).to_string();
        let batch = server.post("/v1/tasks/batch", batch).await.json();
        let error = &batch["results"][0]["error"]["errors"][0];
        assert_eq!(error["pointer"], format!("/tasks/0{place}"), "{batch}");
        let bearer = format!("Bearer {key}");
        let headers =
            [("Authorization", bearer.as_str()), ("Content-Type", "application/x-ndjson")];
        let line = task.to_string();
        let path = "/v1/tasks/batch";
        let lines = request(server.addr, "POST", path, &headers, line.as_bytes()).await;
        let line = lines.body.split(|byte| *byte == b'\n').next().unwrap();
        let line: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(line["error"]["errors"][0]["pointer"], place, "{line}");
        let mut schedule: Value = serde_json::from_str(SCHEDULE).unwrap();
        schedule["task"] = task;
        let put = server.put_as(&key, "/v1/schedules/s", &[], schedule.to_string()).await;
        assert_eq!((put.status, put.pointers()), (422, vec![format!("/task{place}")]));
    }
    assert_eq!(server.stored().await, 0);
}

#[tokio::test]
async fn the_largest_command_is_counted_with_all_of_its_entries() {
    let settings = [("BERTH_API__MAX_TASK_BYTES", "4000000")];
    let server = Server::start_with(&settings).await;
    // Nine bytes more than its text for each entry, of which `x` is one.
    let full = |last: usize| {
        let mut argv = vec!["x".to_owned()];
        argv.extend((0..14).map(|_| "a".repeat(131_071)));
        argv.push("b".repeat(last));
        command(json!({"argv": argv})).to_string()
    };
    let left = domain::task::MAX_COMMAND_BYTES - 14 * (131_071 + 9) - 10 - 9;
    let taken = server.post("/v1/tasks", full(left)).await;
    assert_eq!(taken.status, 201, "{:?}", taken.pointers());
    let refused = server.post("/v1/tasks", full(left + 1)).await;
    assert_eq!((refused.status, refused.pointers()), (422, vec!["/run/command".to_owned()]));
}

#[tokio::test]
async fn doubled_fields_are_refused_wherever_they_are() {
    let server = Server::start().await;
    for (body, pointer) in [
        (r#"{"run":{"noop":{}},"run":{"noop":{}}}"#, "/run"),
        (r#"{"run":{"noop":{}},"name":"a","name":"b"}"#, "/name"),
        (r#"{"run":{"noop":{},"noop":{}}}"#, "/run/noop"),
        (r#"{"run":{"noop":{}},"labels":{"a":"1","a":"1"}}"#, "/labels/a"),
        (r#"{"run":{"command":{"argv":["x"],"env":{"A":"1","A":"2"}}}}"#, "/run/command/env/A"),
    ] {
        let answer = server.post("/v1/tasks", body).await;
        assert_eq!((answer.status, answer.pointers()), (422, vec![pointer.to_owned()]), "{body}");
    }
    assert_eq!(server.stored().await, 0);
}

#[tokio::test]
async fn an_array_is_no_object() {
    let server = Server::start().await;
    for (body, pointer) in [
        (json!([]), ""),
        (json!({"run": {"noop": ["5s"]}}), "/run/noop"),
        (json!({"run": {"command": [["true"]]}}), "/run/command"),
        (noop_with("resources", json!([250, 512, 0, 0, 0])), "/resources"),
        (noop_with("retry", json!(["constant"])), "/retry"),
    ] {
        let answer = server.post("/v1/tasks", body.to_string()).await;
        assert_eq!(answer.code(), "validation_failed", "{body}: {answer:?}");
        assert_eq!(answer.pointers(), [pointer], "{body}");
    }
    assert_eq!(server.stored().await, 0);
}

#[tokio::test]
async fn what_is_no_json_is_a_400() {
    let server = Server::start().await;
    let deep = format!("{{\"run\":{}", "{\"noop\":".repeat(100_000 / 8));
    let nested = format!("{{\"labels\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [
        "",
        " ",
        "{",
        "run",
        "{'run':1}",
        "{\"run\":{\"noop\":{}}}x",
        "\u{0}",
        "{\"name\":\"\u{0}\"}",
        "\u{feff}{}",
    ] {
        let answer = server.post("/v1/tasks", body).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_json"), "{body:?}");
    }
    for bytes in [&b"\xff\xfe"[..], b"{\"name\":\"\xff\"}", b"{\"name\":\"\xc0\x80\"}"] {
        let answer = server.post("/v1/tasks", bytes).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_json"));
    }
    for (body, pointer) in [
        (r#"{"run":{"noop":{}},"max_attempts":1e999}"#, "/max_attempts"),
        (r#"{"run":{"noop":{}},"name":"\ud800"}"#, "/name"),
    ] {
        let answer = server.post("/v1/tasks", body).await;
        assert_eq!((answer.status, answer.pointers()), (422, vec![pointer.to_owned()]), "{body}");
    }
    for body in [deep, nested] {
        let answer = server.post("/v1/tasks", body).await;
        assert!([400, 422].contains(&answer.status), "{answer:?}");
    }
    assert_eq!(server.stored().await, 0);
}

/// A valid task of exactly `bytes` bytes.
fn task_of(bytes: usize) -> String {
    let frame = command(json!({"argv": ["x"], "stdin": ""})).to_string().len();
    command(json!({"argv": ["x"], "stdin": "y".repeat(bytes - frame)})).to_string()
}

#[tokio::test]
async fn the_size_limit_holds_to_the_byte_with_and_without_a_length() {
    let server = Server::start_with(&[("BERTH_API__MAX_TASK_BYTES", "262144")]).await;
    let bearer = format!("Authorization: Bearer {}", server.key);
    for (bytes, status) in [(262_144, 201), (262_145, 413), (300_000, 413), (4_000_000, 413)] {
        let body = task_of(bytes);
        assert_eq!(body.len(), bytes);
        let answer = server.post("/v1/tasks", &body).await;
        assert_eq!(answer.status, status, "{bytes} with a length");
        let head = format!(
            "POST /v1/tasks HTTP/1.1\r\nHost: berth\r\nConnection: close\r\n{bearer}\r\n\
             Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        let mut chunked = Vec::new();
        for piece in body.as_bytes().chunks(30_000) {
            chunked.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            chunked.extend_from_slice(piece);
            chunked.extend_from_slice(b"\r\n");
        }
        chunked.extend_from_slice(b"0\r\n\r\n");
        let answer = send(server.addr, &head, &chunked).await;
        assert_eq!(answer.status, status, "{bytes} in chunks");
        if status == 413 {
            assert_eq!(answer.code(), "payload_too_large");
        }
    }
    assert_eq!(server.db.sql("select count(*) from task").await.unwrap().trim(), "2");
}

#[tokio::test]
async fn a_batch_over_its_limit_is_refused_before_it_is_sent() {
    let server = Server::start().await;
    let bearer = format!("Bearer {}", server.key);
    let head = format!(
        "POST /v1/tasks/batch HTTP/1.1\r\nHost: berth\r\nConnection: close\r\nAuthorization: {bearer}\r\n\
         Content-Type: application/json\r\nContent-Length: 16777217\r\n\r\n"
    );
    let answer = send(server.addr, &head, b"").await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "payload_too_large"));
}

#[tokio::test]
async fn only_plain_json_is_taken() {
    let server = Server::start().await;
    let bearer = format!("Bearer {}", server.key);
    let body = br#"{"run":{"noop":{}}}"#;
    for (kind, encoding, status) in [
        ("application/json", "identity", 201),
        ("Application/JSON; charset=utf-8", "identity", 201),
        ("text/plain", "identity", 415),
        ("application/x-www-form-urlencoded", "identity", 415),
        ("", "identity", 415),
        ("application/x-ndjson", "identity", 415),
        ("application/json", "br", 415),
    ] {
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", kind),
            ("Content-Encoding", encoding),
        ];
        let answer = request(server.addr, "POST", "/v1/tasks", &headers, body).await;
        assert_eq!(answer.status, status, "{kind} {encoding} {answer:?}");
    }
}

#[tokio::test]
async fn bad_queries_are_refused_where_they_stand() {
    let server = Server::start().await;
    let id = server.noop().await;
    for (target, pointer) in [
        ("/v1/tasks?limit=0".to_owned(), "query:limit"),
        ("/v1/tasks?limit=201".to_owned(), "query:limit"),
        ("/v1/tasks?limit=1&limit=2".to_owned(), "query:limit"),
        ("/v1/tasks?state=done".to_owned(), "query:state"),
        ("/v1/tasks?tier=gold".to_owned(), "query:tier"),
        ("/v1/tasks?name=%00".to_owned(), "query:name"),
        ("/v1/tasks?label=a%00=b".to_owned(), "query:label"),
        ("/v1/tasks?label=a".to_owned(), "query:label"),
        ("/v1/tasks?created_from=now".to_owned(), "query:created_from"),
        ("/v1/tasks?page=2".to_owned(), "query:page"),
        (format!("/v1/tasks/{id}?full=1"), "query:full"),
        (format!("/v1/tasks/{id}/attempts?limit=x"), "query:limit"),
        (format!("/v1/tasks/{id}/logs?stream=3"), "query:stream"),
        (format!("/v1/tasks/{id}/logs?attempt=-1"), "query:attempt"),
        (format!("/v1/tasks/{id}/logs?tail=-1"), "query:tail"),
        (format!("/v1/tasks/{id}/logs?tail=10001"), "query:tail"),
        (format!("/v1/tasks/{id}/logs?format=raw&tail=all"), "query:tail"),
        (format!("/v1/tasks/{id}/logs?follow=true&tail=1.5"), "query:tail"),
        (format!("/v1/tasks/{id}/logs?since=yesterday"), "query:since"),
        (format!("/v1/tasks/{id}/logs?format=raw&since=10"), "query:since"),
        (format!("/v1/tasks/{id}/logs?follow=true&since=-5m"), "query:since"),
        (format!("/v1/tasks/{id}/logs?format=html"), "query:format"),
        (format!("/v1/tasks/{id}/logs?follow=1"), "query:follow"),
        ("/v1/usage?from=x".to_owned(), "query:from"),
        ("/v1/usage?to=0000-00-00".to_owned(), "query:to"),
        ("/v1/usage?tenant=x".to_owned(), "query:tenant"),
    ] {
        let answer = server.get(&target).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_parameter"), "{target}");
        assert_eq!(answer.pointers(), [pointer], "{target}");
    }
    let far = server.get("/v1/tasks/x/logs?attempt=99999999999").await;
    assert_eq!(far.status, 404);
    assert_eq!(server.get(&format!("/v1/tasks/{id}/logs?attempt=4294967295")).await.status, 200);
}

#[tokio::test]
async fn a_cursor_that_is_not_ours_is_refused() {
    let server = Server::start().await;
    for _ in 0..3 {
        server.noop().await;
    }
    let page = server.get("/v1/tasks?limit=1").await.json();
    let cursor = page["next_cursor"].as_str().unwrap();
    let other = server.new_tenant("second").await;
    let other_key = server.new_key(other, &["read"]).await;
    let forged = format!("{}{}", if cursor.starts_with('A') { 'B' } else { 'A' }, &cursor[1..]);
    for target in [
        "/v1/tasks?cursor=".to_owned(),
        "/v1/tasks?cursor=x".to_owned(),
        format!("/v1/tasks?cursor={forged}"),
        format!("/v1/tasks?cursor={}", &cursor[..cursor.len() - 1]),
        format!("/v1/tasks?cursor={cursor}&state=ready"),
        format!("/v1/tasks?cursor={}", "A".repeat(5000)),
    ] {
        let answer = server.get(&target).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_cursor"), "{target}");
        assert_eq!(answer.pointers(), ["query:cursor"]);
    }
    let foreign = server.get_as(&other_key, &format!("/v1/tasks?cursor={cursor}")).await;
    assert_eq!(foreign.code(), "invalid_cursor");
    assert_eq!(server.get(&format!("/v1/tasks?limit=1&cursor={cursor}")).await.status, 200);
}

#[tokio::test]
async fn bytes_that_are_no_request_do_not_harm_the_server() {
    let server = Server::start().await;
    for garbage in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\u{0}\u{1}\u{2}\r\n\r\n",
        "GET /v1/tasks HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/tasks HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
    ] {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(garbage.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        let _ended = tokio::time::timeout(std::time::Duration::from_secs(10), read)
            .await
            .expect("a closed connection");
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            !text.starts_with("HTTP/1.1 2") && !text.starts_with("HTTP/1.1 5"),
            "{garbage:?}: {text}"
        );
    }
    let huge =
        format!("GET /healthz HTTP/1.1\r\nHost: a\r\nX-Big: {}\r\n\r\n", "x".repeat(1_000_000));
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(server.addr).await.unwrap();
    let _sent = stream.write_all(huge.as_bytes()).await;
    let mut bytes = Vec::new();
    let _read =
        tokio::time::timeout(std::time::Duration::from_secs(10), stream.read_to_end(&mut bytes))
            .await;
    assert!(!String::from_utf8_lossy(&bytes).starts_with("HTTP/1.1 200"));
    assert_eq!(server.get("/v1/tasks").await.status, 200);
}

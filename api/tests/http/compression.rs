//! gzip in both directions, and what a browser may load.

use crate::client::{Answer, request};
use crate::server::{NOOP, Server};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::{Read, Write};

fn packed(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

async fn post(server: &Server, target: &str, kind: &str, encoding: &str, body: &[u8]) -> Answer {
    let bearer = format!("Bearer {}", server.key);
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", kind),
        ("Content-Encoding", encoding),
    ];
    request(server.addr, "POST", target, &headers, body).await
}

fn task_of(bytes: usize) -> String {
    let task =
        |stdin: String| json!({"run": {"command": {"argv": ["x"], "stdin": stdin}}}).to_string();
    let frame = task(String::new()).len();
    task("y".repeat(bytes - frame))
}

#[tokio::test]
async fn compressed_bodies_are_taken_and_their_plain_size_is_what_counts_to_the_byte() {
    let server = Server::start().await;
    let json = "application/json";
    for (bytes, status) in [(64, 201), (262_144, 201), (262_145, 413), (5_000_000, 413)] {
        let body = packed(task_of(bytes).as_bytes());
        let answer = post(&server, "/v1/tasks", json, "gzip", &body).await;
        assert_eq!(answer.status, status, "{bytes}: {answer:?}");
    }
    let batch = json!({"tasks": vec![json!({"run": {"noop": {}}}); 1000]}).to_string();
    let answer = post(&server, "/v1/tasks/batch", json, "GZIP", &packed(batch.as_bytes())).await;
    assert_eq!(answer.json()["accepted"], 1000);
    let lines = format!("{NOOP}\n").repeat(1300);
    let answer =
        post(&server, "/v1/tasks/batch", "application/x-ndjson", "gzip", &packed(lines.as_bytes()))
            .await;
    assert!(
        String::from_utf8(answer.body).unwrap().ends_with("{\"accepted\":1300,\"rejected\":0}\n")
    );
}

#[tokio::test]
async fn a_bomb_is_refused_before_it_fills_the_memory() {
    let server = Server::start().await;
    let bomb = packed(&vec![b' '; 1024 * 1024 * 1024]);
    assert!(bomb.len() < 1_200_000);
    let before = peak_mib();
    for (target, kind) in [
        ("/v1/tasks", "application/json"),
        ("/v1/tasks/batch", "application/json"),
        ("/v1/tasks/batch", "application/x-ndjson"),
    ] {
        let answer = post(&server, target, kind, "gzip", &bomb).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (413, "payload_too_large"),
            "{target} {kind}"
        );
    }
    let grown = peak_mib().saturating_sub(before);
    // One at a time, the largest limit being 16 MiB.
    assert!(grown <= 2 * 16 + 8, "grown by {grown} MiB");
    assert_eq!(server.stored().await, 0);
}

#[tokio::test]
async fn oversized_bodies_sent_at_once_cost_no_more_than_their_limit_each() {
    let server = Server::start().await;
    // 1 byte to 16 MiB: below its limit each is judged as JSON, above it none is read to its end.
    let body = vec![b' '; 16 * 1024 * 1024];
    for (bytes, status) in [(1, 400), (262_144, 400), (262_145, 413), (16_777_216, 413)] {
        let before = peak_mib();
        let sends = (0..8)
            .map(|_| post(&server, "/v1/tasks", "application/json", "identity", &body[..bytes]));
        for answer in futures::future::join_all(sends).await {
            assert_eq!(answer.status, status, "{bytes}");
        }
        // The client's own copies of what it sends are in the same process.
        let copies = 2 * 8 * bytes / (1024 * 1024);
        let grown = peak_mib().saturating_sub(before);
        assert!(grown <= copies + 8 + 8, "{bytes} bytes: grown by {grown} MiB");
    }
}

fn peak_mib() -> usize {
    testkit::memory::peak_kib(std::process::id()).unwrap() / 1024
}

#[tokio::test]
async fn what_is_no_gzip_is_a_400_and_other_encodings_are_a_415() {
    let server = Server::start().await;
    let good = packed(NOOP.as_bytes());
    for (encoding, body, status) in [
        ("gzip", NOOP.as_bytes(), 400),
        ("gzip", &good[..good.len() - 1], 400),
        ("gzip", b"", 400),
        ("gzip, gzip", &good[..], 415),
        ("br", &good[..], 415),
        ("deflate", &good[..], 415),
        ("zstd", &good[..], 415),
        ("identity", NOOP.as_bytes(), 201),
        ("gzip", &good[..], 201),
    ] {
        let answer = post(&server, "/v1/tasks", "application/json", encoding, body).await;
        assert_eq!(answer.status, status, "{encoding} {answer:?}");
    }
}

#[tokio::test]
async fn large_answers_are_compressed_for_those_who_ask() {
    let server = Server::start().await;
    for _ in 0..20 {
        server.noop().await;
    }
    let bearer = format!("Bearer {}", server.key);
    let get = async |target: &str, accept: &str| {
        let headers = [("Authorization", bearer.as_str()), ("Accept-Encoding", accept)];
        request(server.addr, "GET", target, &headers, b"").await
    };
    let small = get("/v1/tasks?limit=1", "gzip").await;
    let plain = get("/v1/tasks", "").await;
    let zipped = get("/v1/tasks", "br;q=1.0, gzip;q=0.8").await;
    assert_eq!(
        (plain.header("content-encoding"), zipped.header("content-encoding")),
        (None, Some("gzip"))
    );
    assert_eq!(zipped.header("vary"), Some("accept-encoding"));
    assert!(small.body.len() >= 1024 || small.header("content-encoding").is_none());
    assert!(zipped.body.len() * 3 < plain.body.len());
    let mut text = String::new();
    GzDecoder::new(&zipped.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), plain.json());
    let refused = get("/v1/tasks", "gzip;q=0").await;
    assert_eq!(refused.header("content-encoding"), None);
    let spec = get("/openapi.json", "gzip").await;
    assert_eq!(spec.header("content-encoding"), Some("gzip"), "taken off the thread, being large");
    let id = server.noop().await;
    server.post(&format!("/v1/tasks/{id}/cancel"), "").await;
    let stream = get(&format!("/v1/tasks/{id}/logs?follow=true"), "gzip").await;
    assert_eq!(stream.header("content-encoding"), None, "a stream passes as it is");
}

#[tokio::test]
async fn a_page_of_another_origin_gets_nothing_it_could_read() {
    let server = Server::start().await;
    let origin = ("Origin", "https://evil.example");
    let preflight = [
        origin,
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization"),
    ];
    for path in ["/v1/tasks", "/openapi.json", "/docs", "/nothing"] {
        let answer = request(server.addr, "OPTIONS", path, &preflight, b"").await;
        assert!([404, 405].contains(&answer.status), "{path}: {answer:?}");
        answer.code();
        let get = request(server.addr, "GET", path, &[origin], b"").await;
        for answer in [answer, get] {
            let cors = answer
                .headers
                .iter()
                .find(|(name, _)| name.to_lowercase().starts_with("access-control-"));
            assert_eq!(cors, None, "{path}");
        }
    }
}

#[tokio::test]
async fn the_page_of_the_docs_loads_from_this_server_only() {
    let server = Server::start().await;
    let page = request(server.addr, "GET", "/docs", &[], b"").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let html = String::from_utf8(page.body.clone()).unwrap();
    let linked: Vec<&str> = html
        .split(['"'])
        .filter(|part| part.starts_with("docs/") || part.contains("://") || part.starts_with("//"))
        .collect();
    assert_eq!(linked, ["docs/swagger-ui.css", "docs/swagger-ui-bundle.js", "docs/start.js"]);
    for file in linked {
        let part = request(server.addr, "GET", &format!("/{file}"), &[], b"").await;
        assert_eq!(part.status, 200, "{file}");
        let policy = part.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';")
                && !policy.contains("unsafe-eval"),
            "{policy}"
        );
        let kind = part.header("content-type").unwrap();
        assert!(kind.starts_with("text/css") || kind.starts_with("text/javascript"), "{kind}");
        let gzip = [("Accept-Encoding", "gzip")];
        let packed = request(server.addr, "GET", &format!("/{file}"), &gzip, b"").await;
        if part.body.len() >= 1024 {
            assert_eq!(part.header("content-encoding"), None);
            for answer in [&part, &packed] {
                assert_eq!(answer.header("vary"), Some("accept-encoding"), "{file}");
            }
            assert_eq!(packed.header("content-encoding"), Some("gzip"), "{file}");
            let mut plain = Vec::new();
            GzDecoder::new(&packed.body[..]).read_to_end(&mut plain).unwrap();
            assert_eq!(plain, part.body, "{file}");
        }
        assert_eq!(part.header("x-content-type-options"), Some("nosniff"));
    }
    for file in ["nothing.js", "index.html", "..%2f..%2fetc%2fpasswd", "swagger-initializer.js"] {
        let answer = request(server.addr, "GET", &format!("/docs/{file}"), &[], b"").await;
        assert_eq!(answer.status, 404, "{file}");
    }
}

//! How much of a process one customer can fill: bodies that are held back, answers that nobody reads.

use crate::client::request;
use crate::large_lists::large;
use crate::limits::limited;
use crate::live::{drained, stream, write_much};
use crate::server::{ALL_SCOPES, NOOP, Server};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;
use testkit::poll::until_some;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const SOON: Duration = Duration::from_secs(10);
/// For what takes seconds on a quiet machine.
const LATE: Duration = Duration::from_secs(60);
const MIB: usize = 1024 * 1024;

/// A gzip body of a batch that has `plain` bytes and never ends; the connection on which it was sent.
pub async fn held_back(server: &Server, key: &str, plain: usize) -> TcpStream {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"{\"tasks\":[").unwrap();
    encoder.write_all(&vec![b' '; plain]).unwrap();
    encoder.flush().unwrap();
    let body = encoder.get_ref();
    let head = format!(
        "POST /v1/tasks/batch HTTP/1.1\r\nHost: berth\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len() + 1000
    );
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    stream
}

fn in_memory() -> usize {
    let text = runtime::metrics::render();
    let line = text.lines().find(|line| line.starts_with("berth_http_bytes_in_memory "));
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

pub async fn until_in_memory(what: &str, wanted: impl Fn(usize) -> bool) {
    until_some(what, SOON, || async { wanted(in_memory()).then_some(()) }).await.unwrap();
}

#[tokio::test]
async fn bodies_that_are_held_back_fill_no_more_than_their_tenants_share() {
    let server = Server::start_with(&[
        ("BERTH_API__MAX_BATCH_BYTES", "1048576"),
        ("BERTH_API__MAX_TENANT_REQUEST_MEMORY", "2097152"),
        ("BERTH_API__MAX_REQUEST_MEMORY", "3145728"),
    ])
    .await;
    let first = held_back(&server, &server.key, 900_000).await;
    let second = held_back(&server, &server.key, 900_000).await;
    until_in_memory("two bodies in memory", |bytes| bytes > 1_800_000).await;
    let mut third = held_back(&server, &server.key, 900_000).await;
    let mut answer = Vec::new();
    third.read_to_end(&mut answer).await.unwrap();
    let answer = crate::client::parse(&answer);
    assert_eq!((answer.status, answer.code().as_str()), (429, "too_much_in_memory"), "{answer:?}");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(in_memory() <= 2 * MIB, "{}", in_memory());
    // What is small is taken all the same, and another tenant has its own share of the whole.
    assert_eq!(server.post("/v1/tasks", NOOP).await.status, 201);
    let other = server.new_tenant("other").await;
    let other = server.new_key(other, &ALL_SCOPES).await;
    let batch = json!({"tasks": [large(1), large(2)]}).to_string();
    let taken = server.post_as(&other, "/v1/tasks/batch", &[], &batch).await;
    assert_eq!((taken.status, &taken.json()["accepted"]), (200, &json!(2)), "{taken:?}");
    let _theirs = held_back(&server, &other, 900_000).await;
    until_in_memory("three bodies in memory", |bytes| bytes > 2_700_000).await;
    let full = server.post_as(&other, "/v1/tasks/batch", &[], &batch).await;
    assert_eq!((full.status, full.code().as_str()), (503, "overloaded"), "{full:?}");
    drop((first, second));
    until_in_memory("two bodies to be gone", |bytes| bytes < MIB).await;
    assert_eq!(server.post("/v1/tasks/batch", &batch).await.status, 200);
}

#[tokio::test]
async fn strangers_fill_a_share_of_their_own() {
    let server = Server::start().await;
    let (mut streams, body) = (Vec::new(), vec![b' '; 15_000]);
    let head = "POST /v1/sessions HTTP/1.1\r\nHost: berth\r\nContent-Type: application/json\r\nContent-Length: 16000\r\n\r\n";
    for _ in 0..260 {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
        streams.push(stream);
    }
    until_in_memory("their bodies in memory", |bytes| bytes > 3_000_000).await;
    assert!(in_memory() <= 3 * MIB, "{}", in_memory());
    let batch = json!({"tasks": [large(1), large(2)]}).to_string();
    assert_eq!(server.post("/v1/tasks/batch", &batch).await.status, 200);
    let json = [("Content-Type", "application/json")];
    let sign_in = json!({"tenant": "first", "email": "a@example.com", "password": "none of mine"});
    let sign_in = sign_in.to_string();
    let answer = request(server.addr, "POST", "/v1/sessions", &json, sign_in.as_bytes()).await;
    assert_ne!(answer.code(), "overloaded", "{answer:?}");
}

/// Whether the kernel still has the server's end of a connection. The client's end learns of a cut only when it sends.
fn is_connected(server: SocketAddr, client: SocketAddr) -> bool {
    let ends = [server, client].map(|end| format!(":{:04X}", end.port()));
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    sockets.lines().any(|socket| {
        let mut fields = socket.split_whitespace().skip(1);
        let is_here = |end: Option<&str>, port: &str| end.is_some_and(|end| end.ends_with(port));
        is_here(fields.next(), &ends[0]) && is_here(fields.next(), &ends[1])
    })
}

#[tokio::test]
async fn who_does_not_read_an_answer_is_cut_off_and_frees_its_memory() {
    let server = Server::start_with(&[("BERTH_API__WRITE_TIMEOUT", "2s")]).await;
    let tasks: Vec<_> = (0..4).map(large).collect();
    server.post("/v1/tasks/batch", json!({"tasks": tasks}).to_string()).await;
    let get = format!(
        "GET /v1/tasks?include=run HTTP/1.1\r\nHost: berth\r\nAuthorization: Bearer {}\r\n\r\n",
        server.key
    );
    // The kernel may else take all that a client does not read: up to 32 MB on some machines.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 * 1024).unwrap();
    let mut stream = socket.connect(server.addr).await.unwrap();
    stream.write_all(get.repeat(14).as_bytes()).await.unwrap();
    let client = stream.local_addr().unwrap();
    // While the connection is there, the server may only be between two answers.
    let cut_off = || async { (!is_connected(server.addr, client)).then_some(()) };
    until_in_memory("an answer in memory", |bytes| bytes > 900_000).await;
    until_some("it to be cut off", LATE, cut_off).await.unwrap();
    until_in_memory("its memory to be free", |bytes| bytes == 0).await;
    let mut rest = Vec::new();
    let read = stream.read_to_end(&mut rest).await;
    assert!(read.is_err() || rest.len() < 14 * 900_000, "{read:?}: {} bytes", rest.len());
}

#[tokio::test]
async fn a_batch_without_memory_for_its_answer_costs_no_tokens() {
    let settings = [
        ("BERTH_API__MAX_BATCH_BYTES", "1048576"),
        ("BERTH_API__MAX_TENANT_REQUEST_MEMORY", "2097152"),
        ("BERTH_API__MAX_REQUEST_MEMORY", "3145728"),
    ];
    let server = limited(&settings, (1, 1500, 0)).await;
    let _body = held_back(&server, &server.key, 900_000).await;
    until_in_memory("a body in memory", |bytes| bytes > 900_000).await;
    // The batch is small; its answer with whole tasks has about 1 KiB for each.
    let batch = json!({"tasks": vec![json!({"run": {"noop": {}}}); 1500]}).to_string();
    let refused = server.post("/v1/tasks/batch?return=full", &batch).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_much_in_memory"));
    let left = refused.header("ratelimit").unwrap();
    assert!(left.starts_with("\"default\";r=1500;"), "{left}");
}

#[tokio::test]
async fn output_that_nobody_reads_counts_too() {
    let server = Server::start_with(&[
        ("BERTH_API__MAX_BATCH_BYTES", "1048576"),
        ("BERTH_API__MAX_TENANT_REQUEST_MEMORY", "2097152"),
        ("BERTH_API__MAX_REQUEST_MEMORY", "3145728"),
    ])
    .await;
    let path = format!("/v1/tasks/{}/logs?format=raw", server.noop().await);
    assert_eq!(server.get(&path).await.status, 200);
    let _body = held_back(&server, &server.key, 900_000).await;
    until_in_memory("a body in memory", |bytes| bytes > 900_000).await;
    let raw = server.get(&path).await;
    assert_eq!((raw.status, raw.code().as_str()), (429, "too_much_in_memory"), "{raw:?}");
}

#[tokio::test]
async fn a_stream_that_nobody_reads_counts_and_one_without_room_ends_and_is_resumed() {
    let server = Server::start_with(&[
        ("BERTH_API__MAX_BATCH_BYTES", "1048576"),
        ("BERTH_API__MAX_TENANT_REQUEST_MEMORY", "2097152"),
        ("BERTH_API__MAX_REQUEST_MEMORY", "3145728"),
    ])
    .await;
    let id = server.noop().await;
    write_much(&server, &id, 512).await;
    let unread = stream(&server, &id, "").await;
    until_in_memory("events of a stream in memory", |bytes| bytes > MIB / 4).await;
    drop(unread);
    until_in_memory("them to be gone", |bytes| bytes == 0).await;

    let bodies = [
        held_back(&server, &server.key, 1_000_000).await,
        held_back(&server, &server.key, 1_000_000).await,
    ];
    until_in_memory("two bodies in memory", |bytes| bytes > 2_000_000).await;
    // The output would fit the sockets' buffers, but not what is left to its tenant.
    let (seen, last_id) = drained(stream(&server, &id, "").await).await;
    assert!(seen.contains("event: state\n") && !seen.contains("event: output\n"), "{seen}");
    drop(bodies);
    until_in_memory("two bodies to be gone", |bytes| bytes == 0).await;
    let resume = format!("Last-Event-ID: {last_id}\r\n");
    let mut resumed = stream(&server, &id, &resume).await;
    let (mut seen, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    while seen.len() < 8 * MIB {
        let read = resumed.read(&mut buffer).await.unwrap();
        assert!(read > 0, "it ended after {} bytes", seen.len());
        seen.extend_from_slice(&buffer[..read]);
    }
    let seen = String::from_utf8_lossy(&seen);
    assert!(seen.contains("\"seq\":0,") && seen.contains("\"seq\":99,"), "{}", seen.len());
}

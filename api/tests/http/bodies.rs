//! Bodies that are made to cost much, and bodies that nobody reads to their end.

use crate::client::{Answer, parse, request};
use crate::memory::{held_back, until_in_memory};
use crate::server::{NOOP, Server};
use flate2::Compression;
use flate2::write::GzEncoder;
use runtime::clock::{monotonic, sleep, timeout};
use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

fn packed(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

fn head(target: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("POST {target} HTTP/1.1\r\nHost: berth\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head + "\r\n"
}

/// Sends `head`, and then `piece` again and again until there is an answer; the answer's head, and how long it took.
async fn without_end(addr: SocketAddr, head: &str, piece: &[u8]) -> (String, Duration) {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let began = monotonic();
    let (mut reader, mut writer) = stream.split();
    let mut answer = vec![0; 4096];
    let sending = async {
        while writer.write_all(piece).await.is_ok() {}
        std::future::pending::<()>().await;
    };
    let read = tokio::select! {
        read = reader.read(&mut answer) => read.unwrap(),
        () = sending => 0,
    };
    (String::from_utf8_lossy(&answer[..read]).into_owned(), began.elapsed())
}

/// The largest of the lowest 95 % of how long a small request on another connection takes.
async fn latency(addr: SocketAddr, requests: usize) -> Duration {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let mut took = Vec::new();
    for _ in 0..requests {
        let began = monotonic();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: berth\r\n\r\n").await.unwrap();
        let mut answer = vec![0; 4096];
        assert!(stream.read(&mut answer).await.unwrap() > 0);
        took.push(began.elapsed());
    }
    took.sort_unstable();
    took[requests * 95 / 100]
}

/// Measures the latency of other requests.
mod alone {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_body_of_members_that_hold_nothing_is_refused_at_once_and_delays_nobody() {
        let server = Server::start_with(&[("BERTH_API__WORKERS", "1")]).await;
        let addr = server.addr;
        let nothing = chunk(&packed(b"").repeat(1000));
        let bearer = format!("Bearer {}", server.key);
        let common = [
            ("Content-Type", "application/json"),
            ("Content-Encoding", "gzip"),
            ("Transfer-Encoding", "chunked"),
        ];
        let stranger = head("/v1/sessions", &common);
        let tenant =
            head("/v1/tasks/batch", &[&common[..], &[("Authorization", &bearer)]].concat());
        for head in [&stranger, &tenant] {
            let mut fastest = Duration::MAX;
            for _ in 0..5 {
                let (answer, took) = without_end(addr, head, &nothing).await;
                assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
                assert!(answer.contains("connection: close"), "{answer}");
                fastest = fastest.min(took);
            }
            assert!(fastest <= Duration::from_millis(100), "{fastest:?}");
        }
        // They end with the set.
        let mut attacks: JoinSet<()> = JoinSet::new();
        for head in [stranger.clone(), stranger, tenant.clone(), tenant] {
            let nothing = nothing.clone();
            attacks.spawn(async move {
                loop {
                    without_end(addr, &head, &nothing).await;
                }
            });
        }
        let latency = latency(addr, 200).await;
        assert_eq!(attacks.len(), 4);
        attacks.abort_all();
        assert!(latency <= Duration::from_millis(50), "{latency:?}");
    }
}

#[tokio::test]
async fn lines_that_hold_nothing_end_before_the_body_does() {
    let server = Server::start().await;
    let bearer = format!("Bearer {}", server.key);
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/x-ndjson"),
        ("Content-Encoding", "gzip"),
    ];
    let post = async |lines: String| {
        request(server.addr, "POST", "/v1/tasks/batch", &headers, &packed(lines.as_bytes())).await
    };
    let blank = post("\n".repeat(16_000_000)).await;
    assert_eq!((blank.status, blank.code().as_str()), (422, "validation_failed"), "{blank:?}");
    assert!(blank.json()["detail"].as_str().unwrap().contains("at most 10000 lines"));
    // As many as a file may have that somebody edited.
    let some = post(format!("{NOOP}\n{}{NOOP}\n\n\n", "\n".repeat(9_000))).await;
    let text = String::from_utf8(some.body).unwrap();
    assert!(text.ends_with("{\"accepted\":2,\"rejected\":0}\n"), "{text}");
}

/// Sends all of a body, however early the answer comes, and only then reads.
async fn send_all_then_read(addr: SocketAddr, head: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.expect("the server takes what comes after its answer, too");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.expect("an answer and no reset");
    parse(&bytes)
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_sends_on_and_closes_the_connection() {
    let server = Server::start_with(&[("BERTH_API__MAX_TENANT_REQUEST_MEMORY", "16777216")]).await;
    let bearer = format!("Bearer {}", server.key);
    let key = ("Authorization", bearer.as_str());
    let plain = vec![b' '; 10_000_000];
    let length = plain.len().to_string();
    let chunked = [chunk(&plain[..65_536]).repeat(150), b"0\r\n\r\n".to_vec()].concat();
    let json = ("Content-Type", "application/json");
    let told = ("Content-Length", length.as_str());
    let not_told = ("Transfer-Encoding", "chunked");
    let cases = [
        (401, "/v1/tasks", vec![json]),
        (413, "/v1/tasks", vec![json, key]),
        (404, "/v1/nothing", vec![json, key]),
        (405, "/v1/whoami", vec![json, key]),
        // Its tenant's memory is held by another body.
        (429, "/v1/tasks/batch", vec![json, key]),
    ];
    let _held = held_back(&server, &server.key, 11_000_000).await;
    until_in_memory("a body in memory", |bytes| bytes > 11_000_000).await;
    for (status, target, headers) in &cases {
        for (form, body) in [(told, &plain), (not_told, &chunked)] {
            let head = head(target, &[&headers[..], &[form]].concat());
            let answer = send_all_then_read(server.addr, &head, body).await;
            assert_eq!(answer.status, *status, "{head}: {answer:?}");
            answer.code();
            assert_eq!(answer.header("connection"), Some("close"), "{head}: {answer:?}");
        }
    }
    // What was read to its end costs no connection.
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let small = [json, key, ("Content-Length", "2")];
    for _ in 0..2 {
        stream.write_all((head("/v1/tasks", &small) + "{}").as_bytes()).await.unwrap();
        let mut answer = vec![0; 4096];
        let read = stream.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..read]);
        assert!(answer.starts_with("HTTP/1.1 422 ") && !answer.contains("close"), "{answer}");
    }
}

#[tokio::test]
async fn a_body_that_goes_on_without_end_after_its_refusal_is_cut_off() {
    let server = Server::start().await;
    let headers = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")];
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(head("/v1/tasks", &headers).as_bytes()).await.unwrap();
    let piece = chunk(&[b' '; 1024]);
    let cut = timeout(Duration::from_secs(10), async {
        while stream.write_all(&piece).await.is_ok() {
            sleep(Duration::from_millis(1)).await;
        }
    });
    cut.await.expect("the connection to end");
}

#[tokio::test]
async fn requests_that_are_no_http_are_counted() {
    let server = Server::start().await;
    let counted = || {
        let text = runtime::metrics::render();
        let line =
            text.lines().find(|line| line.starts_with("berth_http_malformed_requests_total"));
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse::<u32>().unwrap())
    };
    let before = counted();
    for nonsense in ["NONSENSE\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n", "\u{16}\u{3}\u{1}"]
    {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(nonsense.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        assert!(bytes.starts_with(b"HTTP/1.1 400 "), "{}", String::from_utf8_lossy(&bytes));
    }
    assert_eq!(counted() - before, 3);
}

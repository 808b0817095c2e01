//! Batches of lines: stored and answered as they come, whatever one line or the connection does.

use crate::client::{Answer, request};
use crate::server::{NOOP, Server};
use client::{BatchItem, Client, IdempotencyKey, RetryPolicy};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll::until_some;
use testkit::proxy::{Mode, Proxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const NDJSON: (&str, &str) = ("Content-Type", "application/x-ndjson");

pub async fn post(server: &Server, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Answer {
    let bearer = format!("Bearer {}", server.key);
    let mut all = vec![("Authorization", bearer.as_str())];
    if !headers.iter().any(|(name, _)| *name == "Content-Type") {
        all.push(NDJSON);
    }
    all.extend_from_slice(headers);
    request(server.addr, "POST", "/v1/tasks/batch", &all, body.as_ref()).await
}

fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"), "{answer:?}");
    answer
        .body
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

async fn tasks(server: &Server) -> usize {
    server.db.sql("select count(*) from task").await.unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn ten_thousand_lines_with_three_bad_ones_are_answered_in_order() {
    let server = Server::start().await;
    let mut all = vec![NOOP.to_owned(); 10_000];
    all[7] = "{\"run\":".to_owned();
    all[4_999] = json!({"run": {"noop": {}}, "name": ""}).to_string();
    all[9_999] = json!({"run": {"noop": {"nap": 1}}}).to_string();
    let answer = post(&server, &[], all.join("\n")).await;
    let shown = lines(&answer);
    assert_eq!(shown.len(), 10_001);
    for (index, line) in shown[..10_000].iter().enumerate() {
        assert_eq!(line["index"], index);
        assert_eq!(line.get("error").is_some(), [7, 4_999, 9_999].contains(&index), "{line}");
    }
    assert_eq!(shown[7]["error"]["code"], "invalid_json");
    assert_eq!(shown[4_999]["error"]["errors"][0]["pointer"], "/name");
    assert_eq!(shown[9_999]["error"]["errors"][0]["pointer"], "/run/noop/nap");
    assert_eq!(shown[10_000], json!({"accepted": 9_997, "rejected": 3}));
    assert_eq!(tasks(&server).await, 9_997);
    let id = shown[0]["task"]["id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/v1/tasks/{id}")).await.status, 200);
}

#[tokio::test]
async fn blank_lines_are_counted_and_passed_over_and_line_ends_of_all_kinds_are_taken() {
    let server = Server::start().await;
    let body = format!("\n{NOOP}\r\n  \n{NOOP}");
    let shown = lines(&post(&server, &[], body).await);
    let indexes: Vec<_> = shown.iter().filter_map(|line| line["index"].as_u64()).collect();
    assert_eq!((indexes, &shown[2]), (vec![1, 3], &json!({"accepted": 2, "rejected": 0})));
    for nothing in ["", "\n", " \n\r\n"] {
        let answer = post(&server, &[], nothing).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "validation_failed"),
            "{nothing:?}"
        );
    }
    let full = post(&server, &[("Content-Type", "text/plain")], NOOP).await;
    assert_eq!(full.code(), "unsupported_media_type");
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str()), NDJSON];
    let single = request(server.addr, "POST", "/v1/tasks", &headers, NOOP.as_bytes()).await;
    assert_eq!((single.status, single.code().as_str()), (415, "unsupported_media_type"));
}

#[tokio::test]
async fn limits_hold_for_a_line_for_the_number_of_lines_and_for_the_whole() {
    let server = Server::start_with(&[
        ("BERTH_API__MAX_TASK_BYTES", "1024"),
        ("BERTH_API__MAX_BATCH_BYTES", "1048576"),
        ("BERTH_API__MAX_BATCH_TASKS", "1000"),
    ])
    .await;
    let sized = |bytes: usize| {
        let frame = json!({"run": {"command": {"argv": ["x"], "stdin": ""}}}).to_string().len();
        json!({"run": {"command": {"argv": ["x"], "stdin": "y".repeat(bytes - frame)}}}).to_string()
    };
    let body = [sized(1024), sized(1025), sized(100_000), NOOP.to_owned()].join("\n");
    let shown = lines(&post(&server, &[], body).await);
    let code = |at: usize| shown[at]["error"]["code"].as_str();
    assert_eq!(
        (code(0), code(1), code(2), code(3)),
        (None, Some("payload_too_large"), Some("payload_too_large"), None)
    );
    assert_eq!(shown[4], json!({"accepted": 2, "rejected": 2}));

    // Whole slices before the limit are stored; the rest is told to be left.
    let shown = lines(&post(&server, &[], vec![NOOP; 1001].join("\n")).await);
    let last = shown.last().unwrap();
    assert_eq!(
        (&last["accepted"], &last["next"], &last["error"]["code"]),
        (&json!(1000), &json!(1000), &json!("validation_failed"))
    );
    assert_eq!(shown.len(), 1001);
    let few = Server::start_with(&[("BERTH_API__MAX_BATCH_TASKS", "50")]).await;
    assert_eq!(post(&few, &[], vec![NOOP; 51].join("\n")).await.code(), "validation_failed");
    assert_eq!(few.stored().await, 0);
    assert_eq!(post(&server, &[], vec![NOOP; 1000].join("\n")).await.status, 200);

    // With a length it is refused before a byte is read, without one as soon as it is too much.
    let long = format!("{}\n", sized(900)).repeat(1300);
    assert_eq!(post(&server, &[], &long).await.code(), "payload_too_large");
    let before = tasks(&server).await;
    let shown = chunked(&server, long.as_bytes()).await;
    let last: Value = serde_json::from_str(
        shown.lines().rfind(|line| line.starts_with("{\"accepted\"")).unwrap(),
    )
    .unwrap();
    assert_eq!(
        (&last["error"]["code"], &last["next"]),
        (&json!("payload_too_large"), &json!(1000))
    );
    assert_eq!(tasks(&server).await, before + 1000);
}

/// Sends a body without a length; gives the whole answer as it came.
async fn chunked(server: &Server, body: &[u8]) -> String {
    let mut socket = opened(server, "").await;
    for piece in body.chunks(30_000) {
        let sent = socket
            .write_all(&[format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat())
            .await;
        if sent.is_err() {
            break;
        }
    }
    let _sent = socket.write_all(b"0\r\n\r\n").await;
    let mut bytes = Vec::new();
    let _read = socket.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn opened(server: &Server, more: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let head = format!(
        "POST /v1/tasks/batch HTTP/1.1\r\nHost: berth\r\nConnection: close\r\nAuthorization: Bearer {}\r\n{more}\
         Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n",
        server.key
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    socket
}

#[tokio::test]
async fn lines_are_answered_while_the_client_still_sends_and_what_was_answered_is_stored() {
    let server = Server::start().await;
    let mut socket = opened(&server, "").await;
    let slice = format!("{NOOP}\n").repeat(500);
    let mut seen = String::new();
    let mut buffer = [0; 65_536];
    for round in 1..=3 {
        let chunk = format!("{:x}\r\n{slice}\r\n", slice.len());
        socket.write_all(chunk.as_bytes()).await.unwrap();
        while seen.matches("\"task\":").count() < 500 * round {
            let read =
                tokio::time::timeout(Duration::from_secs(20), socket.read(&mut buffer)).await;
            seen.push_str(&String::from_utf8_lossy(
                &buffer[..read.expect("answers before the end").unwrap()],
            ));
        }
        assert_eq!(tasks(&server).await, 500 * round);
    }
    // Gone in the middle of a fourth slice: nothing of it is stored, nothing before it is lost.
    let half = format!("{NOOP}\n").repeat(100);
    socket.write_all(format!("{:x}\r\n{half}\r\n", half.len()).as_bytes()).await.unwrap();
    drop(socket);
    assert_eq!(server.post("/v1/tasks", NOOP).await.status, 201);
    assert_eq!(tasks(&server).await, 1501);
}

#[tokio::test]
async fn a_client_that_sends_everything_before_it_reads_does_not_wait_for_itself() {
    let server = Server::start().await;
    let mut socket = opened(&server, "").await;
    let line = json!({"run": {"command": {"argv": ["x"], "stdin": "y".repeat(1400)}}}).to_string();
    let body = format!("{line}\n").repeat(9_000);
    let send = async {
        for piece in body.as_bytes().chunks(60_000) {
            socket
                .write_all(&[format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat())
                .await
                .unwrap();
        }
        socket.write_all(b"0\r\n\r\n").await.unwrap();
    };
    tokio::time::timeout(Duration::from_secs(60), send).await.expect("the server goes on reading");
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).await.unwrap();
    assert!(String::from_utf8_lossy(&bytes).contains("{\"accepted\":9000,\"rejected\":0}"));
}

#[tokio::test]
async fn the_same_lines_under_the_same_key_get_the_same_answers_and_are_stored_once() {
    let server = Server::start().await;
    let mut all = vec![NOOP.to_owned(); 1200];
    all[3] = "7".to_owned();
    let body = all.join("\n");
    let key = [("Idempotency-Key", "lines-1")];
    let first = lines(&post(&server, &key, &body).await);
    let again = lines(&post(&server, &key, &body).await);
    assert_eq!(first, again);
    assert_eq!(tasks(&server).await, 1199);
    // What was never reached is stored now.
    let longer = format!("{body}\n{NOOP}");
    let more = lines(&post(&server, &key, &longer).await);
    assert_eq!(
        more.last().unwrap()["error"]["code"],
        "idempotency_key_reuse",
        "the last slice was another"
    );
    assert_eq!((&more.last().unwrap()["next"], &more[..1000]), (&json!(1000), &first[..1000]));
    assert_eq!(tasks(&server).await, 1199);
    let bad = post(&server, &[("Idempotency-Key", "a b")], NOOP).await;
    assert_eq!(bad.pointers(), ["header:Idempotency-Key"]);
}

#[tokio::test]
async fn the_typed_client_makes_good_a_cut_and_tells_each_line_once() {
    let server = Server::start().await;
    let proxy = Proxy::start(server.addr.to_string()).await.unwrap();
    let retry = RetryPolicy {
        tries: 30,
        first_wait: Duration::from_millis(20),
        wait_max: Duration::from_millis(300),
    };
    let client = Client::builder(format!("http://{}", proxy.address()))
        .api_key(server.key.as_str())
        .retry(retry)
        .build()
        .unwrap();
    let mut all = vec![NOOP.to_owned(); 6_000];
    all[5_000] = "{}".to_owned();
    let (told, mut seen) = tokio::sync::mpsc::unbounded_channel::<usize>();
    let cutting = async {
        // Twice in the middle: once something is stored, the network breaks.
        for count in [500, 2_000] {
            let stored = || async { (tasks(&server).await >= count).then_some(()) };
            until_some("some to be stored", Duration::from_secs(30), stored).await.unwrap();
            proxy.set(Mode::Reset);
            runtime::clock::sleep(Duration::from_millis(50)).await;
            proxy.set(Mode::Pass);
        }
    };
    let submitting =
        client.submit_ndjson(all.join("\n"), IdempotencyKey::fresh(), move |item: BatchItem| {
            told.send(item.index).unwrap();
        });
    let (summary, ()) = tokio::join!(submitting, cutting);
    let summary = summary.unwrap();
    assert_eq!((summary.accepted, summary.rejected, summary.error), (5_999, 1, None));
    let mut indexes = Vec::new();
    while let Ok(index) = seen.try_recv() {
        indexes.push(index);
    }
    assert_eq!(indexes, (0..6_000).collect::<Vec<_>>());
    assert_eq!(tasks(&server).await, 5_999);
}

/// What is about seconds that pass waits for them.
mod waits {
    use super::*;

    #[tokio::test]
    async fn a_body_that_goes_on_after_its_key_was_revoked_adds_nothing_more() {
        let server = Server::start().await;
        let mut socket = opened(&server, "").await;
        let slice = format!("{NOOP}\n").repeat(500);
        let chunk = format!("{:x}\r\n{slice}\r\n", slice.len());
        socket.write_all(chunk.as_bytes()).await.unwrap();
        let mut seen = String::new();
        let mut buffer = [0; 65_536];
        while seen.matches("\"task\":").count() < 500 {
            let read =
                tokio::time::timeout(Duration::from_secs(20), socket.read(&mut buffer)).await;
            let read = read.expect("answers before the end").unwrap();
            seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        server.db.sql("update api_key set revoked_at = now()").await.unwrap();
        runtime::clock::sleep(Duration::from_secs(2)).await;
        socket.write_all(format!("{chunk}0\r\n\r\n").as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).await.unwrap();
        let rest = String::from_utf8_lossy(&rest);
        assert!(rest.contains("\"code\":\"unauthenticated\""), "{rest}");
        assert!(rest.contains("\"accepted\":500") && rest.contains("\"next\":500"), "{rest}");
        assert_eq!(tasks(&server).await, 500);
    }
}

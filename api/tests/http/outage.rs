//! The database goes away, the connection breaks in a commit, the process is told to stop.

use crate::client::{Answer, request};
use crate::server::{NOOP, Server, config};
use futures::future::join_all;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::net::SocketAddr;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::poll::until_some;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn probe(addr: SocketAddr, path: &str) -> Answer {
    request(addr, "GET", path, &[], b"").await
}

#[tokio::test]
async fn without_a_database_the_api_starts_is_not_ready_and_answers_503() {
    let db = TestDatabase::new().await.unwrap();
    let nowhere = ("BERTH_DATABASE__URL", "postgres://127.0.0.1:1/berth");
    let config = config(&db, &[nowhere, ("BERTH_DATABASE__ACQUIRE_TIMEOUT", "200ms")]);
    let (stop, shutdown) = Shutdown::new();
    let bus = bus::Bus::connect(&config.bus, &TaskGroup::new(), &shutdown).unwrap();
    let handle = api::start(&config, bus, shutdown).await.unwrap();
    assert_eq!(probe(handle.addr, "/healthz").await.status, 200);
    assert_eq!(probe(handle.addr, "/readyz").await.status, 503);
    let key = identity::key::generate("live", &crate::server::secret()).unwrap();
    use runtime::config::ExposeSecret;
    let bearer = format!("Bearer {}", key.text.expose_secret());
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let answer = request(handle.addr, "POST", "/v1/tasks", &headers, NOOP.as_bytes()).await;
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(answer.json()["retryable"], true);
    assert!(answer.header("retry-after").is_some());
    assert!(!String::from_utf8_lossy(&answer.body).contains("127.0.0.1"), "no cause in an answer");
    stop.shut_down();
    handle.stopped().await.unwrap();
}

#[tokio::test]
async fn broken_connections_lose_no_submit_that_was_answered_and_double_none() {
    let server = Server::start().await;
    let (mut kept, mut unknown) = (Vec::new(), 0);
    for round in 0..12 {
        let posts =
            (0..20).map(|n| {
                let key = format!("r{round}-{n}");
                let server = &server;
                async move {
                    (server.post_with("/v1/tasks", &[("Idempotency-Key", &key)], NOOP).await, key)
                }
            });
        let cut = async {
            tokio::task::yield_now().await;
            let kill = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                        where usename = 'berth_submit' and datname = current_database()";
            server.db.sql(kill).await.unwrap();
        };
        let (answers, ()) = tokio::join!(join_all(posts), cut);
        for (answer, key) in answers {
            match answer.status {
                201 => kept.push((answer.json()["id"].as_str().unwrap().to_owned(), key)),
                503 => {
                    assert_eq!(answer.json()["retryable"], true);
                    unknown += 1;
                    // The client tries again with its key until it knows.
                    let again = || async {
                        let answer =
                            server.post_with("/v1/tasks", &[("Idempotency-Key", &key)], NOOP).await;
                        (answer.status == 201)
                            .then(|| answer.json()["id"].as_str().unwrap().to_owned())
                    };
                    let id = until_some("a repeated submit", Duration::from_secs(10), again)
                        .await
                        .unwrap();
                    kept.push((id, key.clone()));
                }
                other => panic!("{other}: {answer:?}"),
            }
        }
    }
    assert_eq!(kept.len(), 240);
    for (id, key) in &kept {
        let replay = server.post_with("/v1/tasks", &[("Idempotency-Key", key)], NOOP).await;
        assert_eq!(replay.json()["id"].as_str(), Some(id.as_str()));
    }
    let count = server.db.sql("select count(*) from task").await.unwrap();
    assert_eq!(count.trim(), "240", "{unknown} outcomes were unknown at first");
}

#[tokio::test]
async fn a_shutdown_lets_open_requests_end_and_is_not_ready_first() {
    let mut server = Server::start().await;
    let bearer = format!("Authorization: Bearer {}", server.key);
    let head = format!(
        "POST /v1/tasks HTTP/1.1\r\nHost: berth\r\n{bearer}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        NOOP.len()
    );
    // A request whose body is still on its way when the shutdown comes, and an idle connection.
    let mut open = TcpStream::connect(server.addr).await.unwrap();
    open.write_all(head.as_bytes()).await.unwrap();
    open.write_all(&NOOP.as_bytes()[..5]).await.unwrap();
    let mut idle = TcpStream::connect(server.addr).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: berth\r\n\r\n").await.unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    // Seen by the server before the shutdown: its answer to a request sent later has come.
    assert_eq!(server.get("/v1/tasks").await.status, 200);

    server.stop.shut_down();
    let not_ready = || async { (probe(server.addr, "/readyz").await.status == 503).then_some(()) };
    until_some("readyz to say no while the door is open", Duration::from_millis(950), not_ready)
        .await
        .unwrap();
    let closed = || async { TcpStream::connect(server.addr).await.is_err().then_some(()) };
    until_some("the door to close", Duration::from_secs(10), closed).await.unwrap();
    open.write_all(&NOOP.as_bytes()[5..]).await.unwrap();
    let mut answer = Vec::new();
    let _read =
        tokio::time::timeout(Duration::from_secs(10), open.read_to_end(&mut answer)).await.unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let began = runtime::clock::monotonic();
    server.handle.take().unwrap().stopped().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "an idle connection must not hold it up");
    assert_eq!(server.db.sql("select count(*) from task").await.unwrap().trim(), "1");
}

#[tokio::test]
async fn half_a_head_is_not_waited_for_long() {
    let server = Server::start().await;
    let mut slow = TcpStream::connect(server.addr).await.unwrap();
    slow.write_all(b"GET /v1/tasks HTTP/1.1\r\nHost: ber").await.unwrap();
    let mut answer = Vec::new();
    let read = slow.read_to_end(&mut answer);
    let _ended = tokio::time::timeout(Duration::from_secs(10), read)
        .await
        .expect("a closed connection within 10 s");
    assert!(!String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 2"));
}

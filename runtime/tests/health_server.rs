//! The health server on a real socket.
#![expect(clippy::expect_used, reason = "a test helper that fails is a failed test")]

use runtime::clock;
use runtime::health::Health;
use runtime::health_server;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn ask(address: SocketAddr, line: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let request = format!("{line} HTTP/1.1\r\nhost: berth\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, answer)
}

#[tokio::test]
async fn probes_follow_the_roles_health() {
    let (handle, shutdown) = Shutdown::new();
    let (tasks, health) = (TaskGroup::new(), Health::new());
    let any = "127.0.0.1:0".parse().expect("an address");
    let address = health_server::start(any, health.clone(), &tasks, shutdown).await.expect("bound");
    assert_ne!(address.port(), 0);

    assert_eq!(ask(address, "GET /healthz").await.0, 200);
    let (status, text) = ask(address, "GET /readyz").await;
    assert!(status == 503 && text.contains("accepting NOT OK: starting"), "{text}");
    health.set_ready(true);
    assert_eq!(ask(address, "GET /readyz").await.0, 200);
    health.mark_draining();
    assert_eq!(ask(address, "GET /readyz").await.0, 503);
    assert_eq!(ask(address, "GET /healthz").await.0, 200);

    runtime::metrics::counter("berth_test_probe_total", "Seen", &[]).with(&[]).inc();
    let (status, text) = ask(address, "GET /metrics").await;
    assert!(status == 200 && text.contains("berth_test_probe_total 1"), "{text}");
    assert_eq!(ask(address, "GET /nothing").await.0, 404);
    assert_eq!(ask(address, "POST /healthz").await.0, 405);

    handle.shut_down();
    tasks.join_all(Duration::from_secs(10)).await.expect("it stops");
    assert!(TcpStream::connect(address).await.is_err(), "the port is free again");
}

#[tokio::test]
async fn a_silent_client_does_not_hold_up_the_shutdown() {
    let (handle, shutdown) = Shutdown::new();
    let tasks = TaskGroup::new();
    let any = "127.0.0.1:0".parse().expect("an address");
    let address = health_server::start(any, Health::new(), &tasks, shutdown).await.expect("bound");
    let _silent = TcpStream::connect(address).await.expect("connected");
    assert_eq!(ask(address, "GET /healthz").await.0, 200);
    let at = clock::monotonic();
    handle.shut_down();
    tasks.join_all(Duration::from_secs(10)).await.expect("it stops");
    assert!(at.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn an_address_in_use_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = taken.local_addr().expect("an address");
    let (_handle, shutdown) = Shutdown::new();
    let started = health_server::start(address, Health::new(), &TaskGroup::new(), shutdown).await;
    assert_eq!(started.expect_err("taken").kind(), std::io::ErrorKind::AddrInUse);
}

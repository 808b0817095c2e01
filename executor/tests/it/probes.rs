//! What operators see from outside: readiness and metrics.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash, outcome};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal;
use protocol::result::Outcome;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

fn get(address: &str, path: &str) -> String {
    let Ok(mut socket) = TcpStream::connect(address) else { return String::new() };
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    socket.write_all(request.as_bytes()).ok();
    socket.read_to_string(&mut answer).ok();
    answer
}

fn health_address(agent: &Agent) -> Option<String> {
    let log = agent.log();
    let rest = log.split("health_address=").nth(1)?;
    Some(rest.split_whitespace().next()?.to_owned())
}

#[tokio::test]
async fn an_executor_is_ready_from_its_welcome_to_its_drain() {
    let (rm, home) = (
        Rm::start_with(|script| script.refuse = Some(protocol::refused::Reason::Unavailable)).await,
        Home::new(),
    );
    let agent = Agent::start(&home, &[&rm.address]);
    until("it serves probes", LIMIT, || health_address(&agent).is_some()).await;
    let address = health_address(&agent).unwrap();
    rm.hello(0).await;
    assert!(get(&address, "/readyz").starts_with("HTTP/1.1 503"));
    assert!(get(&address, "/healthz").starts_with("HTTP/1.1 200"));
    rm.change(|script| script.refuse = None);
    until("it is ready", LIMIT, || get(&address, "/readyz").starts_with("HTTP/1.1 200")).await;
    rm.result(rm.assign(&bash("exit 1"))).await;
    rm.assign(&bash("sleep 100"));
    let metric = |line: &str| get(&address, "/metrics").lines().any(|one| one == line);
    until("it counts", LIMIT, || {
        metric("berth_executor_attempts_running 1")
            && metric("berth_executor_results_total{outcome=\"failed\"} 1")
    })
    .await;
    agent.signal(Signal::SIGTERM);
    until("it is not ready", LIMIT, || get(&address, "/readyz").starts_with("HTTP/1.1 503")).await;
}

/// A pipe with no room left.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = io::pipe().unwrap();
    fcntl(&writer, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    let full = loop {
        if let Err(error) = writer.write(&[b'.'; 4096]) {
            break error;
        }
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    fcntl(&writer, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
    (reader, writer)
}

fn dropped_lines(address: &str) -> u64 {
    let metrics = get(address, "/metrics");
    let value = |line: &str| line.strip_prefix("berth_log_lines_dropped_total ")?.parse().ok();
    metrics.lines().find_map(value).unwrap_or(0)
}

#[tokio::test]
async fn a_log_that_nobody_reads_stops_nothing_and_is_counted() {
    let (rm, home) = (Rm::start().await, Home::new());
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let settings = [
        ("EXECUTOR__HEALTH_LISTEN", address.as_str()),
        ("TELEMETRY__LOG_QUEUE_BYTES", "4096"),
        ("TELEMETRY__LOG", "trace"),
        ("EXECUTOR__ISOLATION", "none"),
    ];
    let (mut reader, writer) = full_pipe();
    let mut agent = Agent::start_logging_to(&home, &[&rm.address], &settings, writer);
    rm.hello(0).await;
    until("it is ready", LIMIT, || get(&address, "/readyz").starts_with("HTTP/1.1 200")).await;
    assert_eq!(outcome(&rm.result(rm.assign(&bash("true"))).await), Outcome::Succeeded);
    until("lines are dropped", LIMIT, || dropped_lines(&address) > 0).await;
    // Once somebody reads again the log says what is missing.
    let (said, heard) = std::sync::mpsc::channel();
    let reading = std::thread::spawn(move || {
        let (mut text, mut piece) = (String::new(), [0; 4096]);
        while !text.contains("log lines were dropped") {
            let len = reader.read(&mut piece).unwrap();
            assert!(len > 0, "the log ended before");
            text.push_str(&String::from_utf8_lossy(&piece[..len]));
        }
        said.send(()).unwrap();
        reader
    });
    heard.recv_timeout(LIMIT).expect("the log says that lines are missing");
    // And from here on nobody reads again: the end waits for nobody either.
    let reader = reading.join().unwrap();
    agent.signal(Signal::SIGTERM);
    assert!(agent.wait(Duration::from_secs(8)).await.success());
    drop(reader);
}

#[tokio::test]
async fn a_log_that_is_closed_stops_nothing() {
    let (rm, home) = (Rm::start().await, Home::new());
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let settings = [("TELEMETRY__LOG", "trace"), ("EXECUTOR__ISOLATION", "none")];
    let mut agent = Agent::start_logging_to(&home, &[&rm.address], &settings, writer);
    rm.hello(0).await;
    assert_eq!(outcome(&rm.result(rm.assign(&bash("true"))).await), Outcome::Succeeded);
    agent.signal(Signal::SIGTERM);
    assert!(agent.wait(LIMIT).await.success());
}

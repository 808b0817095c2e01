//! What operators see from outside: readiness and metrics.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash};
use nix::sys::signal::Signal;
use std::io::{Read, Write};
use std::net::TcpStream;

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

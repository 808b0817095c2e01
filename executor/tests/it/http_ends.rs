//! Calls that do not end by themselves: each is cut, its connection closed, and its end says by whom.

use crate::agent::{Agent, Home};
use crate::called::{Called, Says, get, http};
use crate::rm::{Rm, outcome};
use nix::sys::signal::Signal;
use protocol::result::Outcome;
use runtime::clock;
use serde_json::json;
use std::time::Duration;

async fn open_rm() -> Rm {
    Rm::start_with(|script| script.private_targets = true).await
}

/// Never says a word.
async fn silent() -> Called {
    Called::start(|_, _| Says::Waits(String::new())).await
}

#[tokio::test]
async fn a_silent_server_is_left_at_the_cap_at_the_timeout_or_on_request() {
    let (rm, home, called) = (open_rm().await, Home::new(), silent().await);
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let capped = rm.assign_with(&get(&called.url("/")), |assignment| assignment.cap_ms = 400);
    let timed =
        rm.assign(&http(json!({"method": "GET", "url": called.url("/"), "timeout": "300ms"})));
    let stopped = rm.assign(&get(&called.url("/")));
    let result = rm.result(capped).await;
    assert_eq!(
        (outcome(&result), result.reason.as_str()),
        (
            Outcome::KilledCap,
            "over its execution cap of 400ms; raise `execution_cap` (--execution-cap)"
        )
    );
    assert!((400..2000).contains(&result.ran_ms), "{}", result.ran_ms);
    let result = rm.result(timed).await;
    assert_eq!(
        (outcome(&result), result.reason.as_str()),
        (Outcome::Failed, "no whole answer within its timeout of 300ms; raise `run.http.timeout`")
    );
    called.left(2).await;
    assert_eq!(rm.results(stopped), []);
    let asked = clock::monotonic();
    rm.stop(stopped);
    assert_eq!(outcome(&rm.result(stopped).await), Outcome::Stopped);
    assert!(clock::monotonic() - asked < Duration::from_secs(2));
    called.left(3).await;
}

#[tokio::test]
async fn a_body_that_only_trickles_is_held_to_the_cap() {
    let (rm, home) = (open_rm().await, Home::new());
    let called = Called::start(|_, _| {
        Says::Waits("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nslow".to_owned())
    })
    .await;
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign_with(&get(&called.url("/")), |assignment| assignment.cap_ms = 500);
    let result = rm.result(lease).await;
    assert_eq!((outcome(&result), result.stdout_bytes), (Outcome::KilledCap, 4));
    called.left(1).await;
}

#[tokio::test]
async fn a_call_ends_with_its_lease() {
    let term = Duration::from_millis(900);
    let rm = Rm::start_with(|script| (script.private_targets, script.term) = (true, term)).await;
    let (home, called) = (Home::new(), silent().await);
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&get(&called.url("/")));
    called.heard(1).await;
    rm.change(|script| script.heartbeats = false);
    called.left(1).await;
    let result = rm.result(lease).await;
    assert_eq!(outcome(&result), Outcome::Fenced);
}

#[tokio::test]
async fn a_draining_executor_hands_a_call_back() {
    let (rm, home, called) = (open_rm().await, Home::new(), silent().await);
    let mut agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__DRAIN_GRACE", "300ms")]);
    rm.hello(0).await;
    let lease = rm.assign(&get(&called.url("/")));
    called.heard(1).await;
    agent.signal(Signal::SIGTERM);
    assert_eq!(outcome(&rm.result(lease).await), Outcome::HandedBack);
    called.left(1).await;
    assert!(agent.wait(Duration::from_secs(10)).await.success());
}

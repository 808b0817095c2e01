//! An executor that is asked to end loses nothing.

use crate::agent::{Agent, Home};
use crate::host::{marked, unique_marker, until};
use crate::rm::{LIMIT, Rm, bash, outcome};
use crate::trees::signal_supervisors;
use nix::sys::signal::Signal;
use protocol::result::Outcome;
use runtime::clock;
use std::time::Duration;

#[tokio::test]
async fn running_work_may_finish_and_new_work_is_refused() {
    let (rm, home) = (Rm::start().await, Home::new());
    let mut agent = Agent::plain(&home, &[&rm.address]);
    rm.hello(0).await;
    let started = home.shared("started");
    let lease = rm.assign(&bash(&format!("touch {}; sleep 1; echo done", started.display())));
    until("it runs", LIMIT, || started.exists()).await;
    let asked = clock::monotonic();
    agent.signal(Signal::SIGTERM);
    rm.heartbeat(asked, |beat| beat.draining && beat.held == [lease.into()]).await;
    assert!(clock::monotonic() - asked < Duration::from_millis(300));
    let refused = rm.result(rm.assign(&bash("true"))).await;
    assert_eq!(
        (outcome(&refused), refused.reason.as_str()),
        (Outcome::NotStarted, "the executor is draining")
    );
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Succeeded);
    assert!(agent.wait(Duration::from_secs(3)).await.success());
}

/// A terminal that closes asks for what SIGTERM asks for; signals for logs and reloads elsewhere ask for nothing, of the supervisor
/// of a command neither.
#[tokio::test]
async fn a_closed_terminal_drains_and_user_signals_end_nothing() {
    let (rm, home) = (Rm::start().await, Home::new());
    // Also where the tests run under `nohup`.
    let (plain, env) = ([("EXECUTOR__ISOLATION", "none")], ["env", "--default-signal=HUP"]);
    let mut agent = Agent::start_below(&home, &[&rm.address], &plain, &env);
    rm.hello(0).await;
    let (started, go) = (home.shared("started"), home.shared("go"));
    let lease = rm.assign(&bash(&format!(
        "touch {}; until [ -e {} ]; do sleep 0.02; done",
        started.display(),
        go.display()
    )));
    until("it runs", LIMIT, || started.exists()).await;
    for signal in [Signal::SIGUSR1, Signal::SIGUSR2] {
        agent.signal(signal);
        signal_supervisors(&agent, signal);
    }
    signal_supervisors(&agent, Signal::SIGHUP);
    let asked = clock::monotonic();
    agent.signal(Signal::SIGHUP);
    rm.heartbeat(asked, |beat| beat.draining && beat.held == [lease.into()]).await;
    std::fs::write(&go, "").unwrap();
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Succeeded);
    assert!(agent.wait(LIMIT).await.success());
}

#[tokio::test]
async fn work_that_does_not_finish_is_handed_back() {
    let (rm, home) = (Rm::start().await, Home::new());
    let mut agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__DRAIN_GRACE", "1s")]);
    rm.hello(0).await;
    let marker = unique_marker();
    let stubborn =
        rm.assign(&bash(&format!("trap '' TERM; while :; do sleep 0.1; done; : {marker}")));
    let noop = rm.assign(r#"{"noop":{"sleep":"100s"}}"#);
    until("it runs", LIMIT, || !marked(&marker).is_empty()).await;
    let asked = clock::monotonic();
    agent.signal(Signal::SIGTERM);
    for lease in [stubborn, noop] {
        assert_eq!(outcome(&rm.result(lease).await), Outcome::HandedBack);
    }
    assert!(marked(&marker).is_empty());
    assert!(agent.wait(LIMIT).await.success());
    let took = clock::monotonic() - asked;
    assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(6), "{took:?}");
}

#[tokio::test]
async fn an_agent_ends_in_time_even_when_nobody_answers() {
    let (rm, home) = (Rm::start_with(|script| script.verdict = None).await, Home::new());
    let mut agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__DRAIN_GRACE", "1s")]);
    rm.hello(0).await;
    let lease = rm.assign(&bash("exit 5"));
    rm.result(lease).await;
    agent.signal(Signal::SIGTERM);
    assert!(agent.wait(Duration::from_secs(6)).await.success());
    let told = rm.results(lease).len();
    let _next = Agent::start(&home, &[&rm.address]);
    until("the next boot tells it", LIMIT, || rm.results(lease).len() > told).await;
}

#[tokio::test]
async fn an_agent_that_never_connected_ends_at_once() {
    let home = Home::new();
    let mut agent = Agent::start(&home, &["http://127.0.0.1:9"]);
    until("it tries", LIMIT, || agent.log().contains("No connection")).await;
    agent.signal(Signal::SIGTERM);
    assert!(agent.wait(Duration::from_secs(2)).await.success());
}

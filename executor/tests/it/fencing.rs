//! Work never outlives the right to run it.

use crate::agent::{Agent, Home};
use crate::host::{marked, none_left, unique_marker, until};
use crate::proxy::Proxy;
use crate::rm::{LIMIT, Rm, bash, outcome};
use nix::sys::signal::Signal;
use protocol::refused::Reason;
use protocol::result::Outcome;
use runtime::clock;
use std::time::Duration;

const TERM: Duration = Duration::from_secs(3);

fn forever(marker: &str) -> String {
    bash(&format!("trap '' TERM; while :; do sleep 0.1; done; : {marker}"))
}

#[tokio::test]
async fn a_cut_wire_kills_the_work_at_two_thirds_of_the_term() {
    let (rm, home) = (Rm::start_with(|script| script.term = TERM).await, Home::new());
    let proxy = Proxy::start(&rm.address, &rm.tasks).await;
    let _agent = Agent::start(&home, &[&proxy.address]);
    let first = rm.hello(0).await;
    let marker = unique_marker();
    let lease = rm.assign(&forever(&marker));
    until("it runs", LIMIT, || !marked(&marker).is_empty()).await;
    // Longer than a term: heartbeats keep it alive.
    clock::sleep(TERM + TERM / 2).await;
    assert!(!marked(&marker).is_empty());
    proxy.blackhole(true);
    let cut = clock::monotonic();
    none_left(&marker, TERM).await;
    let took = clock::monotonic() - cut;
    assert!(took < TERM * 2 / 3 + Duration::from_millis(400), "{took:?}");
    // The confirmed heartbeat was at most a third of a term old.
    assert!(took > TERM / 3 - Duration::from_millis(200), "{took:?}");
    rm.change(|script| script.verdict = Some(protocol::result_answer::Verdict::Stale));
    proxy.blackhole(false);
    let result = rm.result(lease).await;
    assert_eq!((outcome(&result), &result.session_id), (Outcome::Fenced, &first.session_id));
    let next = rm
        .until("a new session", |heard| {
            crate::rm::hellos(heard).find(|hello| hello.session_id != first.session_id)
        })
        .await;
    assert_eq!((next.last_assignment, next.held.len()), (0, 0));
}

#[tokio::test]
async fn a_paused_agent_fences_before_it_does_anything_and_its_work_is_dead_already() {
    let (rm, home) = (Rm::start_with(|script| script.term = TERM).await, Home::new());
    let agent = Agent::plain(&home, &[&rm.address]);
    let first = rm.hello(0).await;
    let marker = unique_marker();
    let lease = rm.assign(&forever(&marker));
    until("it runs", LIMIT, || !marked(&marker).is_empty()).await;
    agent.signal(Signal::SIGSTOP);
    let paused = clock::monotonic();
    // Its supervisor ends it, though the agent can do nothing.
    none_left(&marker, TERM).await;
    assert!(clock::monotonic() - paused < TERM * 2 / 3 + Duration::from_millis(400));
    let started = home.shared("started");
    let late = rm.assign(&bash(&format!("touch {}", started.display())));
    let resumed = clock::monotonic();
    agent.signal(Signal::SIGCONT);
    let second = rm
        .until("a new session", |heard| {
            crate::rm::hellos(heard).find(|hello| hello.session_id != first.session_id)
        })
        .await;
    assert_eq!(second.last_assignment, 0);
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Fenced);
    // Nothing came over the old stream after the pause, and what lay in its buffer was not started.
    let old = rm.heard().into_iter().filter(|one| one.stream == 1 && one.at >= resumed).count();
    assert_eq!(old, 0);
    assert_eq!(rm.results(late), []);
    assert!(!started.exists());
}

#[tokio::test]
async fn a_session_that_is_over_is_followed_by_a_clean_one() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    let first = rm.hello(0).await;
    let marker = unique_marker();
    let command = rm.assign(&forever(&marker));
    let noop = rm.assign(r#"{"noop":{"sleep":"100s"}}"#);
    until("it runs", LIMIT, || !marked(&marker).is_empty()).await;
    rm.change(|script| script.refuse = Some(Reason::SessionOver));
    rm.hang_up();
    rm.hello(1).await;
    rm.change(|script| script.refuse = None);
    for lease in [command, noop] {
        let result = rm.result(lease).await;
        assert_eq!((outcome(&result), &result.session_id), (Outcome::Fenced, &first.session_id));
    }
    assert!(marked(&marker).is_empty());
    let next = rm
        .until("a clean session", |heard| {
            crate::rm::hellos(heard).find(|hello| hello.session_id != first.session_id)
        })
        .await;
    assert_eq!((next.last_assignment, next.held.len()), (0, 0));
    let again = rm.assign(&bash("echo works"));
    assert_eq!(outcome(&rm.result(again).await), Outcome::Succeeded);
}

#[tokio::test]
async fn an_attempt_that_a_new_resource_manager_does_not_know_is_killed() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let (known, unknown) = (unique_marker(), unique_marker());
    let stays = rm.assign(&forever(&known));
    let goes = rm.assign(&forever(&unknown));
    until("both run", LIMIT, || !marked(&known).is_empty() && !marked(&unknown).is_empty()).await;
    rm.change(|script| script.leases = Some(vec![stays]));
    rm.hang_up();
    assert_eq!(outcome(&rm.result(goes).await), Outcome::Fenced);
    assert!(marked(&unknown).is_empty());
    assert!(!marked(&known).is_empty());
}

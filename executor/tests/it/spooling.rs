//! Results outlive the agent, and are told until somebody answers.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash, outcome};
use protocol::result::Outcome;
use protocol::result_answer::Verdict;
use runtime::clock;
use std::fs::{self, OpenOptions};
use std::io::Write;

#[tokio::test]
async fn a_result_survives_the_agent_and_is_told_by_the_next_boot() {
    let (rm, home) = (Rm::start_with(|script| script.verdict = None).await, Home::new());
    let agent = Agent::start(&home, &[&rm.address]);
    let first = rm.hello(0).await;
    let lease = rm.assign(&bash("exit 7"));
    rm.result(lease).await;
    agent.kill9();
    let told = rm.results(lease).len();
    rm.change(|script| script.verdict = Some(Verdict::Stale));
    let _agent = Agent::start(&home, &[&rm.address]);
    let second = rm.hello(1).await;
    assert_ne!(first.session_id, second.session_id);
    assert_eq!(second.held, []);
    until("it is told again", LIMIT, || rm.results(lease).len() > told).await;
    let result = rm.results(lease).pop().unwrap();
    assert_eq!((outcome(&result), result.exit_code), (Outcome::Failed, Some(7)));
    assert_eq!(result.session_id, first.session_id);
    // STALE is an answer like any other: it is forgotten.
    until("the spool is empty", LIMIT, || fs::metadata(home.spool()).unwrap().len() == 8).await;
}

#[tokio::test]
async fn a_result_that_nobody_heard_is_told_by_the_next_boot() {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::plain(&home, &[&rm.address]);
    rm.hello(0).await;
    let done = home.shared("done");
    let lease = rm.assign(&bash(&format!("sleep 0.3; touch {}", done.display())));
    rm.until("it is accepted", |heard| {
        heard
            .iter()
            .any(|one| matches!(one.message, protocol::from_executor::Message::Accepted(_)))
            .then_some(())
    })
    .await;
    rm.change(|script| script.refuse = Some(protocol::refused::Reason::Unavailable));
    rm.hang_up();
    until("it has run", LIMIT, || done.exists()).await;
    until("its result is on disk", LIMIT, || fs::metadata(home.spool()).unwrap().len() > 8).await;
    agent.kill9();
    assert_eq!(rm.results(lease), []);
    rm.change(|script| script.refuse = None);
    let _agent = Agent::start(&home, &[&rm.address]);
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Succeeded);
    until("the spool is empty", LIMIT, || fs::metadata(home.spool()).unwrap().len() == 8).await;
}

#[tokio::test]
async fn a_torn_spool_delivers_what_is_whole() {
    let (rm, home) = (Rm::start_with(|script| script.verdict = None).await, Home::new());
    let agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&bash("exit 1"));
    rm.result(lease).await;
    agent.kill9();
    let told = rm.results(lease).len();
    OpenOptions::new()
        .append(true)
        .open(home.spool())
        .unwrap()
        .write_all(&[90, 0, 0, 0, 1, 2, 3])
        .unwrap();
    let _agent = Agent::start(&home, &[&rm.address]);
    until("it is told again", LIMIT, || rm.results(lease).len() > told).await;
}

#[tokio::test]
async fn a_result_is_repeated_until_it_is_answered() {
    let (rm, home) =
        (Rm::start_with(|script| script.verdict = Some(Verdict::Retry)).await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(r#"{"noop":{}}"#);
    until("it comes again after RETRY", LIMIT, || rm.results(lease).len() >= 2).await;
    rm.change(|script| script.verdict = None);
    let seen = rm.results(lease).len();
    rm.hang_up();
    until("it comes again on a new stream", LIMIT, || rm.results(lease).len() > seen).await;
    assert!(rm.hello(1).await.held.contains(&lease.into()));
    rm.change(|script| script.verdict = Some(Verdict::Repeated));
    rm.hang_up();
    until("the spool is empty", LIMIT, || fs::metadata(home.spool()).unwrap().len() == 8).await;
    rm.hang_up();
    rm.until("a hello without it", |heard| {
        crate::rm::hellos(heard).last().filter(|hello| hello.held.is_empty())
    })
    .await;
}

#[tokio::test]
async fn a_full_spool_takes_no_work_until_there_is_room() {
    let (rm, home) = (Rm::start_with(|script| script.verdict = None).await, Home::new());
    let _agent =
        Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__SPOOL_MAX_BYTES", "1048576")]);
    rm.hello(0).await;
    let noop = r#"{"noop":{}}"#;
    let mut last = rm.assign(noop);
    rm.result(last).await;
    // Each takes more than 50 bytes.
    for _ in 0..21 {
        last = rm.assign_many(noop, 1000)[999];
        rm.result(last).await;
    }
    let refused = rm.result(last).await;
    assert_eq!(
        (outcome(&refused), refused.reason.as_str()),
        (Outcome::NotStarted, "the executor's spool is full")
    );
    rm.change(|script| script.verdict = Some(Verdict::Applied));
    rm.hang_up();
    until("the spool is empty", LIMIT, || fs::metadata(home.spool()).unwrap().len() == 8).await;
    rm.hello(1).await;
    // The file is empty a moment before the agent knows.
    let deadline = clock::monotonic() + LIMIT;
    while outcome(&rm.result(rm.assign(noop)).await) != Outcome::Succeeded {
        assert!(clock::monotonic() < deadline, "work is still refused");
    }
}

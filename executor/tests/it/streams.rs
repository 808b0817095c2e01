//! Finding a resource manager, changing it, and hearing things twice.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash, outcome};
use protocol::refused::Reason;
use protocol::result::Outcome;
use protocol::{Assignment, Assignments};
use runtime::clock;
use std::fs;
use std::time::Duration;

#[tokio::test]
async fn hello_says_who_and_what_there_is() {
    let (rm, home) = (Rm::start().await, Home::new());
    let settings = [
        ("EXECUTOR__CPU_MILLIS", "1500"),
        ("EXECUTOR__POOL", "gpu"),
        ("EXECUTOR__PORT_COUNT", "10"),
    ];
    let _agent = Agent::start_with(&home, &[&rm.address], &settings);
    let hello = rm.hello(0).await;
    assert_eq!(
        (hello.protocol, hello.executor_id.as_str(), hello.pool.as_str()),
        (1, "test-1", "gpu")
    );
    assert_eq!((hello.session_id.len(), hello.last_assignment, hello.held.len()), (16, 0, 0));
    assert_eq!(hello.drivers, ["command", "http", "noop"]);
    let capacity = hello.capacity.unwrap();
    assert_eq!((capacity.cpu_millis, capacity.port_first, capacity.port_count), (1500, 20_000, 10));
    assert!(capacity.memory_mib > 0 && capacity.disk_mib > 0 && capacity.iops > 0);
}

#[tokio::test]
async fn a_boot_names_the_sessions_before_it_and_asks_again_for_a_name_that_is_taken() {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start(&home, &[&rm.address]);
    let first = rm.hello(0).await;
    assert_eq!(first.earlier_session_ids, Vec::<Vec<u8>>::new());
    agent.kill9();
    rm.change(|script| script.refuse = Some(Reason::NameTaken));
    let agent = Agent::start(&home, &[&rm.address]);
    let second = rm.hello(1).await;
    assert_eq!(second.earlier_session_ids, std::slice::from_ref(&first.session_id));
    let asked = clock::monotonic();
    // However often: each time after a second at most.
    let again = rm.hello(5).await;
    assert!(asked.elapsed() < Duration::from_secs(6), "asked again after {:?}", asked.elapsed());
    assert_eq!(again.session_id, second.session_id, "it is no reason for another session");
    let ids = |hello: &protocol::Hello| uuid::Uuid::from_slice(&hello.session_id).unwrap();
    for id in [ids(&first), ids(&second)] {
        assert!(!agent.log().contains(&id.simple().to_string()), "{}", agent.log());
    }
    let changed = clock::monotonic();
    rm.change(|script| script.refuse = None);
    // On a stream that is not refused.
    rm.heartbeat(changed, |_| true).await;
    assert_eq!(outcome(&rm.result(rm.assign(r#"{"noop":{}}"#)).await), Outcome::Succeeded);
}

#[tokio::test]
async fn a_dead_address_and_a_refusal_lead_to_the_next_resource_manager() {
    let refusing = Rm::start_with(|script| script.refuse = Some(Reason::Unavailable)).await;
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start(&home, &["http://127.0.0.1:9", &refusing.address, &rm.address]);
    rm.hello(0).await;
    assert_eq!(outcome(&rm.result(rm.assign(r#"{"noop":{}}"#)).await), Outcome::Succeeded);
}

#[tokio::test]
async fn go_away_changes_the_stream_and_loses_nothing() {
    let (first, second) = (Rm::start().await, Rm::start().await);
    let home = Home::new();
    let _agent = Agent::plain(&home, &[&first.address, &second.address]);
    until("one is chosen", LIMIT, || first.heard().len() + second.heard().len() > 0).await;
    let (from, to) = if first.heard().is_empty() { (second, first) } else { (first, second) };
    from.hello(0).await;
    let (go, count) = (home.shared("go"), home.shared("count"));
    let script = format!(
        "echo start >> {1}; until [ -e {0} ]; do sleep 0.02; done; echo end >> {1}; echo out",
        go.display(),
        count.display(),
    );
    let lease = from.assign(&bash(&script));
    until("it runs", LIMIT, || count.exists()).await;
    // Not quite new any more.
    clock::sleep(Duration::from_millis(1100)).await;
    from.go_away();
    let asked = clock::monotonic();
    let hello = to.hello(0).await;
    assert!(clock::monotonic() - asked < Duration::from_secs(1));
    assert_eq!((hello.last_assignment, &hello.held[..]), (1, &[lease.into()][..]));
    fs::write(&go, "").unwrap();
    let result = to.result(lease).await;
    assert_eq!(outcome(&result), Outcome::Succeeded);
    assert_eq!(to.output_text(lease, protocol::output_chunk::Stream::Stdout), "out\n");
    assert_eq!(fs::read_to_string(&count).unwrap(), "start\nend\n");
    assert_eq!(from.results(lease), []);
}

#[tokio::test]
async fn an_assignment_that_comes_again_runs_once() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::plain(&home, &[&rm.address]);
    rm.hello(0).await;
    let count = home.shared("count");
    let mut sent = Assignment::default();
    let run = bash(&format!("echo x >> {}; sleep 0.5", count.display()));
    let lease = rm.assign_with(&run, |assignment| sent = assignment.clone());
    rm.tell(Assignments { assignments: vec![sent.clone(), sent.clone()] });
    rm.hang_up();
    let hello = rm.hello(1).await;
    assert_eq!(hello.last_assignment, 1);
    rm.tell(Assignments { assignments: vec![sent.clone()] });
    // Even under a new number a lease that is held is not taken up twice.
    rm.tell(Assignments { assignments: vec![Assignment { number: 2, ..sent }] });
    rm.result(lease).await;
    let last = rm.assign_with(r#"{"noop":{}}"#, |assignment| assignment.number = 3);
    rm.result(last).await;
    assert_eq!(fs::read_to_string(&count).unwrap(), "x\n");
}

#[tokio::test]
async fn heartbeats_list_what_is_held_and_come_every_third_of_a_term() {
    let (rm, home) =
        (Rm::start_with(|script| script.term = Duration::from_millis(1500)).await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&bash("sleep 100"));
    let began = clock::monotonic();
    rm.heartbeat(began, |beat| beat.held == [lease.into()] && beat.last_assignment == 1).await;
    clock::sleep(Duration::from_secs(3)).await;
    let beats = rm
        .heard()
        .iter()
        .filter(|one| matches!(one.message, protocol::from_executor::Message::Heartbeat(_)))
        .count();
    assert!((6..=10).contains(&beats), "{beats} beats in 3 s");
}

#[tokio::test]
async fn a_wrong_secret_is_never_accepted_and_never_logged() {
    let (rm, home) = (Rm::start().await, Home::new());
    let wrong = "e0b1c2d3f4a5968778695a4b3c2d1e0f";
    let mut agent = Agent::start_with(&home, &[&rm.address], &[("AUTH__EXECUTOR_SECRET", wrong)]);
    until("it is refused", LIMIT, || agent.log().contains("wrong secret")).await;
    assert!(agent.is_alive());
    assert!(rm.heard().is_empty());
    assert!(!agent.log().contains(wrong));
}

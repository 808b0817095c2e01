//! The driver that measures the rest must cost next to nothing itself.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, outcome};
use protocol::from_executor::Message;
use protocol::result::Outcome;
use runtime::clock;
use std::time::Duration;

#[tokio::test]
async fn a_noop_sleeps_is_capped_and_is_stopped() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let short = rm.assign(r#"{"noop":{"sleep":"200ms"}}"#);
    let capped =
        rm.assign_with(r#"{"noop":{"sleep":"100s"}}"#, |assignment| assignment.cap_ms = 300);
    let stopped = rm.assign(r#"{"noop":{"sleep":"100s"}}"#);
    let result = rm.result(short).await;
    assert_eq!(outcome(&result), Outcome::Succeeded);
    assert!((200..1000).contains(&result.ran_ms), "{}", result.ran_ms);
    let result = rm.result(capped).await;
    assert_eq!(
        (outcome(&result), result.reason.as_str()),
        (
            Outcome::KilledCap,
            "over its execution cap of 300ms; raise `execution_cap` (--execution-cap)"
        )
    );
    assert_eq!(rm.results(stopped), []);
    rm.stop(stopped);
    assert_eq!(outcome(&rm.result(stopped).await), Outcome::Stopped);
}

#[tokio::test]
async fn an_answer_to_a_heartbeat_stops_what_it_lists() {
    let term = Duration::from_millis(900);
    let (rm, home) = (Rm::start_with(|script| script.term = term).await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(r#"{"noop":{"sleep":"100s"}}"#);
    rm.change(|script| script.stop = vec![lease]);
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Stopped);
}

#[tokio::test]
async fn many_noops_go_in_groups_and_each_is_told_once() {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    const COUNT: usize = 20_000;
    let told = |rm: &Rm| -> (usize, usize) {
        let heard = rm.heard();
        let groups = heard.iter().filter_map(|one| match &one.message {
            Message::Results(results) => Some(results.results.len()),
            _ => None,
        });
        groups.fold((0, 0), |(groups, all), len| (groups + 1, all + len))
    };
    let (began, cpu) = (clock::monotonic(), agent.cpu_ticks());
    for _ in 0..COUNT / 200 {
        rm.assign_many(r#"{"noop":{}}"#, 200);
    }
    until("all are told", LIMIT, || told(&rm).1 >= COUNT).await;
    let (took, cpu) = (clock::monotonic() - began, agent.cpu_ticks() - cpu);
    clock::sleep(Duration::from_millis(200)).await;
    let (groups, all) = told(&rm);
    println!("{COUNT} noops in {took:?}, {} ms of cpu, {groups} groups", cpu * 10);
    assert_eq!(all, COUNT);
    assert!(groups < COUNT / 10, "{groups} groups");
}

//! Nothing of a command lives on, whatever it did to hide.

use crate::agent::{Agent, Home};
use crate::host::{marked, none_left, unique_marker, until};
use crate::rm::{LIMIT, Rm, bash, outcome};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use runtime::clock;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(5);

in_both_modes! {
    a_tree_dies_at_its_cap,
    a_tree_dies_when_it_is_stopped,
    a_tree_dies_with_its_main_process,
    what_forks_while_it_is_killed_is_not_held_against_its_command,
    a_tree_dies_when_the_agent_is_killed,
    a_tree_whose_supervisor_was_killed_is_found_and_killed,
    a_tree_that_forks_while_it_is_killed_does_not_escape,
    a_polite_command_ends_within_its_grace,
}

/// Leaves children behind in every way there is, then waits for ever (or not).
fn spread(marker: &str, end: &str) -> String {
    bash(&format!(
        "trap '' TERM HUP
         m={marker}
         hide() {{ bash -c \"trap '' TERM HUP INT; while :; do sleep 1; done; : $m-$1\" & }}
         hide plain
         setsid bash -c \"trap '' TERM HUP; (setsid bash -c 'trap \\\"\\\" TERM; while :; do sleep 1; done; : $m-double' &) ; while :; do sleep 1; done; : $m-setsid\" &
         nohup bash -c \"while :; do sleep 1; done; : $m-nohup\" >/dev/null 2>&1 &
         (bash -c \"kill -STOP \\$\\$; : $m-stopped\" &)
         while [ $(pgrep -cf $m-) -lt 5 ]; do sleep 0.05; done
         {end}"
    ))
}

async fn all_there(marker: &str) {
    let all = ["plain", "setsid", "double", "nohup", "stopped"];
    let there = || all.iter().all(|kind| !marked(&format!(": {marker}-{kind}")).is_empty());
    until("the tree has grown", LIMIT, there).await;
}

async fn a_tree_dies_at_its_cap(isolation: &str) {
    let (rm, home) = (
        Rm::start_with(|script| script.kill_grace = Duration::from_millis(300)).await,
        Home::new(),
    );
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let marker = unique_marker();
    let sent = clock::monotonic();
    let lease = rm.assign_with(&spread(&marker, "wait"), |assignment| assignment.cap_ms = 2500);
    all_there(&marker).await;
    let result = rm.result(lease).await;
    // Told only when nothing is left.
    assert!(marked(&marker).is_empty());
    assert_eq!((outcome(&result), result.signal), (Outcome::KilledCap, Some(9)));
    let reason = "over its execution cap of 2s500ms; raise `execution_cap` (--execution-cap)";
    assert_eq!(result.reason, reason);
    // The cap counts from when the attempt is received, the run from when its command begins, some ms later.
    let since_sent = sent.elapsed();
    assert!(since_sent >= Duration::from_millis(2800), "{since_sent:?}");
    assert!((2500..4500).contains(&result.ran_ms), "{}", result.ran_ms);
}

async fn a_tree_dies_when_it_is_stopped(isolation: &str) {
    let (rm, home) = (
        Rm::start_with(|script| script.kill_grace = Duration::from_millis(300)).await,
        Home::new(),
    );
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let marker = unique_marker();
    let lease = rm.assign(&spread(&marker, "wait"));
    all_there(&marker).await;
    rm.stop(lease);
    rm.stop(lease);
    let result = rm.result(lease).await;
    assert!(marked(&marker).is_empty());
    assert_eq!(outcome(&result), Outcome::Stopped);
}

async fn a_tree_dies_with_its_main_process(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let marker = unique_marker();
    let lease = rm.assign(&spread(&marker, "exit 4"));
    let result = rm.result(lease).await;
    assert!(marked(&marker).is_empty());
    assert_eq!((outcome(&result), result.exit_code), (Outcome::Failed, Some(4)));
}

/// To kill what is left forbids it to fork, and the kernel counts what it refuses.
async fn what_forks_while_it_is_killed_is_not_held_against_its_command(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let forks = bash("for _ in 1 2; do (while :; do (:); done) & done; sleep 0.05; exit 4");
    for _ in 0..4 {
        let lease = rm.assign(&forks);
        let result = rm.result(lease).await;
        let found = (outcome(&result), result.exit_code, result.reason.as_str());
        assert_eq!(found, (Outcome::Failed, Some(4), "ended with exit code 4"));
    }
}

async fn a_tree_dies_when_the_agent_is_killed(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let markers: Vec<String> = (0..3).map(|_| unique_marker()).collect();
    for marker in &markers {
        rm.assign(&spread(marker, "wait"));
    }
    for marker in &markers {
        all_there(marker).await;
    }
    agent.kill9();
    for marker in &markers {
        none_left(marker, SOON).await;
    }
    // The next boot removes what the dead one could not.
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(1).await;
    assert_eq!(home.work_folders(), 0);
}

pub fn kill_supervisors(agent: &Agent) {
    signal_supervisors(agent, Signal::SIGKILL);
}

pub fn signal_supervisors(agent: &Agent, signal: Signal) {
    let agent = agent.pid().to_string();
    for pid in marked("__supervise") {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
        if parent == Some(&agent) {
            kill(Pid::from_raw(pid), signal).unwrap();
        }
    }
}

#[tokio::test]
async fn a_tree_that_lost_agent_and_supervisor_is_killed_by_the_next_boot() {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::plain(&home, &[&rm.address]);
    rm.hello(0).await;
    let marker = unique_marker();
    rm.assign(&spread(&marker, "wait"));
    all_there(&marker).await;
    // Neither can act any more when the other dies.
    agent.signal(Signal::SIGSTOP);
    kill_supervisors(&agent);
    agent.kill9();
    assert!(!marked(&marker).is_empty());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(1).await;
    assert!(marked(&marker).is_empty());
    assert_eq!(home.work_folders(), 0);
}

async fn a_tree_whose_supervisor_was_killed_is_found_and_killed(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let marker = unique_marker();
    let lease = rm.assign(&spread(&marker, "wait"));
    all_there(&marker).await;
    kill_supervisors(&agent);
    let result = rm.result(lease).await;
    assert!(marked(&marker).is_empty());
    assert_eq!(
        (outcome(&result), result.reason.as_str()),
        (Outcome::Failed, "its supervisor process was killed")
    );
}

async fn a_tree_that_forks_while_it_is_killed_does_not_escape(isolation: &str) {
    let (rm, home) =
        (Rm::start_with(|script| script.kill_grace = Duration::ZERO).await, Home::new());
    let agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let marker = unique_marker();
    // Each link starts the next, detached, and ends: always 16 of them, whoever runs them, of which some fork at any moment.
    let link = "sleep 0.$((1 + RANDOM % 4)); setsid bash $0 $1 & exit";
    let chain = bash(&format!(
        "echo '{link}' > link; for _ in {{1..16}}; do bash link {marker} & done; sleep 100"
    ));
    let chains: Vec<_> = (0..2).map(|_| rm.assign(&chain)).collect();
    let seen = RefCell::new(HashSet::new());
    let forks = || {
        seen.borrow_mut().extend(marked(&marker));
        seen.borrow().len() > 100
    };
    until("it forks", LIMIT, forks).await;
    rm.stop(chains[0]);
    assert_eq!(outcome(&rm.result(chains[0]).await), Outcome::Stopped);
    let began = clock::monotonic();
    agent.kill9();
    none_left(&marker, SOON).await;
    assert!(clock::monotonic() - began < SOON);
}

async fn a_polite_command_ends_within_its_grace(isolation: &str) {
    let (rm, home) =
        (Rm::start_with(|script| script.kill_grace = Duration::from_secs(10)).await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let script = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let lease = rm.assign(&bash(script));
    let said = || rm.output_text(lease, Stream::Stdout);
    until("its trap is set", LIMIT, || said() == "ready\n").await;
    rm.stop(lease);
    let result = rm.result(lease).await;
    assert_eq!((outcome(&result), result.exit_code), (Outcome::Stopped, Some(0)));
    assert_eq!(said(), "ready\nbye\n");
}

#[tokio::test]
async fn what_ended_before_the_stop_keeps_its_outcome() {
    let (rm, home) = (Rm::start_with(|script| script.verdict = None).await, Home::new());
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let lease = rm.assign(&bash("exit 0"));
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Succeeded);
    rm.stop(lease);
    rm.hang_up();
    rm.hello(1).await;
    until("the result comes again", LIMIT, || rm.results(lease).len() > 1).await;
    assert!(rm.results(lease).iter().all(|result| outcome(result) == Outcome::Succeeded));
}

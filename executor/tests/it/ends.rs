//! An attempt that is ended begins nothing more, however it is ended; what it does on being asked is its own.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash, outcome};
use domain::task::LeaseKey;
use nix::sys::signal::Signal;
use protocol::Capacity;
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use std::time::Duration;

in_both_modes! {
    nothing_begins_after_a_stop,
    nothing_begins_after_the_cap,
    nothing_begins_after_a_hand_back,
    nothing_begins_after_a_resource_is_used_up,
    what_is_left_of_a_command_that_was_asked_to_end_has_the_same_grace,
    a_command_that_stopped_itself_hears_that_it_is_to_end,
}

/// Commands in which something ends and something else would begin. Each says `ready` before.
const SCRIPTS: [&str; 5] = [
    "echo ready; sleep 300; echo MAIL SENT",
    "bash -c 'echo ready; sleep 300; echo MAIL SENT'; echo MAIL SENT",
    "echo ready; setsid -w sleep 300; echo MAIL SENT",
    "echo ready; sleep 300 | cat; echo MAIL SENT",
    "set -m; echo ready; sleep 300; echo MAIL SENT",
];

/// At once of each of them.
const TIMES: usize = 8;
/// The same where an executor that drains gives up after four seconds, on a machine that may be busy.
const FEW_TIMES: usize = 3;

fn assign_all(rm: &Rm, times: usize, cap_ms: u64) -> Vec<LeaseKey> {
    let assign = |script| {
        rm.assign_with(&bash(script), |assignment| {
            assignment.cap_ms = cap_ms;
            assignment.resources = Some(small());
        })
    };
    SCRIPTS.iter().flat_map(|script| (0..times).map(move |_| assign(script))).collect()
}

fn small() -> Capacity {
    Capacity { memory_mib: 64, disk_mib: 16, cpu_millis: 1000, ..Capacity::default() }
}

async fn all_ready(rm: &Rm, leases: &[LeaseKey]) {
    for lease in leases {
        let said = || rm.output_text(*lease, Stream::Stdout) == "ready\n";
        until("it runs", LIMIT, said).await;
    }
}

/// Waits for all results, and looks at what was said until then.
async fn end_silently(rm: &Rm, leases: &[LeaseKey], wanted: Outcome) {
    for lease in leases {
        let result = rm.result(*lease).await;
        assert_eq!(outcome(&result), wanted, "{}", result.reason);
        let said = rm.output_text(*lease, Stream::Stdout);
        assert!(said == "ready\n" || said.is_empty(), "{said}");
    }
}

async fn nothing_begins_after_a_stop(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let leases = assign_all(&rm, TIMES, 60_000);
    all_ready(&rm, &leases).await;
    for lease in &leases {
        rm.stop(*lease);
    }
    end_silently(&rm, &leases, Outcome::Stopped).await;
}

async fn nothing_begins_after_the_cap(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let leases = assign_all(&rm, TIMES, 3000);
    end_silently(&rm, &leases, Outcome::KilledCap).await;
}

async fn nothing_begins_after_a_hand_back(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let settings = [("EXECUTOR__ISOLATION", isolation), ("EXECUTOR__DRAIN_GRACE", "0s")];
    let agent = Agent::start_with(&home, &[&rm.address], &settings);
    rm.hello(0).await;
    let leases = assign_all(&rm, FEW_TIMES, 60_000);
    all_ready(&rm, &leases).await;
    agent.signal(Signal::SIGTERM);
    end_silently(&rm, &leases, Outcome::HandedBack).await;
}

/// Here nobody is asked: all of it is killed.
async fn nothing_begins_after_a_resource_is_used_up(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let script = "echo ready; for i in {1..10}; do head -c 3M /dev/zero > $i; done; sleep 300; echo MAIL SENT";
    let assign =
        |_| rm.assign_with(&bash(script), |assignment| assignment.resources = Some(small()));
    let leases: Vec<_> = (0..2 * TIMES).map(assign).collect();
    end_silently(&rm, &leases, Outcome::KilledResources).await;
}

#[tokio::test]
async fn nothing_begins_after_the_agent_is_killed_or_the_lease_is_over() {
    let term = Duration::from_millis(900);
    for kills in [true, false] {
        let (rm, home) = (Rm::start().await, Home::new());
        let agent = Agent::plain(&home, &[&rm.address]);
        rm.hello(0).await;
        let mail = home.shared("mail");
        let script = format!("echo ready; sleep 300; touch {}", mail.display());
        let leases: Vec<_> = (0..3 * TIMES).map(|_| rm.assign(&bash(&script))).collect();
        all_ready(&rm, &leases).await;
        if kills {
            agent.kill9();
        } else {
            rm.change(|script| (script.term, script.heartbeats) = (term, false));
            rm.hang_up();
        }
        let over = || crate::host::marked(&mail.display().to_string()).is_empty();
        until("all are dead", LIMIT, over).await;
        assert!(!mail.exists());
    }
}

async fn what_is_left_of_a_command_that_was_asked_to_end_has_the_same_grace(isolation: &str) {
    let (rm, home) =
        (Rm::start_with(|script| script.kill_grace = Duration::from_secs(10)).await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    // The outer shell does not care and ends at once; the inner one has something to put in order.
    let inner =
        "trap 'sleep 0.3; echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let lease = rm.assign(&bash(&format!("bash -c \"{inner}\"; echo MAIL SENT")));
    all_ready(&rm, &[lease]).await;
    rm.stop(lease);
    let result = rm.result(lease).await;
    assert_eq!((outcome(&result), result.signal), (Outcome::Stopped, Some(15)));
    assert_eq!(rm.output_text(lease, Stream::Stdout), "ready\ncleaned\n");
    // It did not wait for the rest of its grace.
    assert!(result.ran_ms < 9000, "{}", result.ran_ms);
}

async fn a_command_that_stopped_itself_hears_that_it_is_to_end(isolation: &str) {
    let (rm, home) =
        (Rm::start_with(|script| script.kill_grace = Duration::from_secs(10)).await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let script = "trap 'echo bye; exit 0' TERM; echo ready; kill -STOP $$; echo MAIL SENT";
    let lease = rm.assign(&bash(script));
    all_ready(&rm, &[lease]).await;
    rm.stop(lease);
    let result = rm.result(lease).await;
    assert_eq!((outcome(&result), result.exit_code), (Outcome::Stopped, Some(0)));
    assert_eq!(rm.output_text(lease, Stream::Stdout), "ready\nbye\n");
}

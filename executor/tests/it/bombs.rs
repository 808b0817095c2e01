//! Commands that want more than they may have: each ends for its own reason, and hurts nobody else.

use crate::agent::{Agent, Home};
use crate::host::{none_left, unique_marker};
use crate::rm::{Rm, bash, outcome};
use domain::task::LeaseKey;
use protocol::Capacity;
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use std::time::Duration;

const SETTINGS: [(&str, &str); 3] = [
    ("EXECUTOR__MAX_PROCESSES", "64"),
    ("EXECUTOR__MAX_OPEN_FILES", "128"),
    ("EXECUTOR__MAX_FILES", "500"),
];

/// Kind, script, how its reason begins. None of them ends by itself.
const BOMBS: [(&str, &str, &str); 5] = [
    ("fork", "f() { f | f & }; f 2>/dev/null; while :; do sleep 0.1; done", "pids: over its 64 "),
    ("memory", "while :; do tail /dev/zero; done", "memory: over its 64 MiB"),
    (
        "open files",
        "while :; do perl -e 'while (open my $f, \"<\", \"/dev/null\") { push @all, $f } sleep 60'; done",
        "open files: 128 in one process",
    ),
    ("inode", "i=0; while :; do : > f$((i++)); done", "inodes: over its 500 files"),
    (
        "disk",
        "i=0; while :; do i=$((i+1)); head -c 3M /dev/zero > d$i; sleep 0.01; done",
        "disk: over its 16 MiB",
    ),
];

/// How often a neighbour of bombs is measured without and with them.
const PAIRS: usize = 7;

fn light(rm: &Rm, script: &str) -> LeaseKey {
    with_cpu(rm, 500, script)
}

fn with_cpu(rm: &Rm, cpu_millis: u32, script: &str) -> LeaseKey {
    rm.assign_with(&bash(script), |assignment| {
        let resources =
            Capacity { memory_mib: 64, disk_mib: 16, cpu_millis, ..Capacity::default() };
        assignment.resources = Some(resources);
    })
}

async fn each_bomb_ends(home: Home, isolation: &str, times: usize) {
    let rm = Rm::start().await;
    let mut settings = SETTINGS.to_vec();
    settings.push(("EXECUTOR__ISOLATION", isolation));
    let mut agent = Agent::start_with(&home, &[&rm.address], &settings);
    rm.hello(0).await;
    eprintln!("{isolation}: {}", agent.enforces().await);
    for _ in 0..times {
        let marker = unique_marker();
        let fallen: Vec<_> = BOMBS
            .iter()
            .map(|(kind, script, reason)| {
                (kind, light(&rm, &format!("{script}; : {marker}")), reason)
            })
            .collect();
        for (kind, lease, reason) in fallen {
            let result = rm.result(lease).await;
            let told = &result.reason;
            assert_eq!(outcome(&result), Outcome::KilledResources, "{kind}: {told}");
            assert!(told.starts_with(reason), "{kind}: {told}");
            assert!(result.ran_ms <= 5000, "{kind} ran for {} ms", result.ran_ms);
        }
        none_left(&marker, Duration::ZERO).await;
    }
    assert!(agent.is_alive());
    // The machine is as usable as before.
    let lease = light(&rm, "echo fine");
    assert_eq!(outcome(&rm.result(lease).await), Outcome::Succeeded);
    assert_eq!(rm.output_text(lease, Stream::Stdout), "fine\n");
}

in_both_modes! { twenty_bombs_end_for_their_own_reasons_and_the_agent_lives }

async fn twenty_bombs_end_for_their_own_reasons_and_the_agent_lives(isolation: &str) {
    each_bomb_ends(Home::new(), isolation, 4).await;
}

#[tokio::test]
async fn bombs_end_under_an_ordinary_user_too() {
    each_bomb_ends(Home::unprivileged(), "auto", 1).await;
}

#[tokio::test]
async fn one_large_file_is_over_the_disk() {
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &SETTINGS);
    rm.hello(0).await;
    for script in ["exec cat /dev/zero > big", "cat /dev/zero > big; while :; do sleep 1; done"] {
        let result = rm.result(light(&rm, script)).await;
        assert_eq!(outcome(&result), Outcome::KilledResources, "{script}: {}", result.reason);
        assert!(result.reason.starts_with("disk: over its 16 MiB; "), "{}", result.reason);
    }
}

#[tokio::test]
async fn a_child_that_the_kernel_killed_for_memory_ends_its_attempt_whatever_the_parent_says() {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start_with(&home, &[&rm.address], &SETTINGS);
    rm.hello(0).await;
    if !agent.enforces().await.split(';').next().unwrap().contains("memory") {
        eprintln!("SKIPPED: memory is not enforced by the kernel here");
        return;
    }
    let result = rm.result(light(&rm, "tail /dev/zero; exit 0")).await;
    assert_eq!(outcome(&result), Outcome::KilledResources, "{}", result.reason);
    assert!(result.reason.starts_with("memory: over its 64 MiB; "), "{}", result.reason);
}

/// 99th percentile, in microseconds, of a small piece of work done over and over for `seconds`.
async fn p99_of_a_neighbour(rm: &Rm, seconds: u32) -> u64 {
    let script = format!(
        "end=$((SECONDS+{seconds})); while [ $SECONDS -lt $end ]; do a=${{EPOCHREALTIME/./}}
         for ((i=0;i<2000;i++)); do :; done; b=${{EPOCHREALTIME/./}}; echo $((b-a)); done"
    );
    let lease = rm.assign_with(&bash(&script), |assignment| {
        let resources =
            Capacity { memory_mib: 64, disk_mib: 16, cpu_millis: 1000, ..Capacity::default() };
        assignment.resources = Some(resources);
    });
    rm.result(lease).await;
    let text = rm.output_text(lease, Stream::Stdout);
    let mut times: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
    times.sort_unstable();
    assert!(times.len() > 100, "{} rounds", times.len());
    times[times.len() * 99 / 100]
}

/// It measures, and has the machine to itself there.
mod chaos {
    use super::*;

    #[tokio::test]
    async fn a_neighbour_of_bombs_is_at_most_half_as_slow_again() {
        let (rm, home) = (Rm::start().await, Home::new());
        let _agent = Agent::start_with(&home, &[&rm.address], &SETTINGS);
        rm.hello(0).await;
        // One preemption by anything makes a round of 2 ms twice as long: the middle of several pairs says what is usual.
        let mut ratios = Vec::new();
        for _ in 0..PAIRS {
            let alone = p99_of_a_neighbour(&rm, 5).await;
            // Together one core: a resource manager never grants more than there is.
            let bombs: Vec<_> = (0..4)
                .flat_map(|_| BOMBS)
                .map(|(_, script, _)| with_cpu(&rm, 50, script))
                .collect();
            let beside = p99_of_a_neighbour(&rm, 5).await;
            for bomb in bombs {
                assert_eq!(outcome(&rm.result(bomb).await), Outcome::KilledResources);
            }
            eprintln!("p99 alone {alone} us, beside 20 bombs {beside} us");
            ratios.push(beside * 100 / alone);
        }
        ratios.sort_unstable();
        assert!(ratios[PAIRS / 2] <= 150, "in hundredths: {ratios:?}");
    }
}

//! Under root each running attempt has a user of its own: what one uses up by user, no other misses.

use crate::agent::{Agent, Home};
use crate::host::until;
use crate::rm::{LIMIT, Rm, bash, outcome};
use domain::task::LeaseKey;
use nix::unistd::geteuid;
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use std::collections::HashSet;

/// False, and said, where this test is not run by root.
fn is_root() -> bool {
    let is = geteuid().is_root();
    if !is {
        eprintln!("SKIPPED: an executor has users for its attempts only under root");
    }
    is
}

/// Waits until a command has written `text`.
async fn has_said(rm: &Rm, lease: LeaseKey, text: &str) {
    until(text, LIMIT, || rm.output_text(lease, Stream::Stdout).contains(text)).await;
}

async fn succeeds(rm: &Rm, lease: LeaseKey) -> String {
    let result = rm.result(lease).await;
    let (out, err) = (rm.output_text(lease, Stream::Stdout), rm.output_text(lease, Stream::Stderr));
    assert_eq!(outcome(&result), Outcome::Succeeded, "{}\n{out}\n{err}", result.reason);
    out
}

/// Until the user of the command has no more.
const INOTIFY: &str = r#"my $nr = `uname -m` =~ /aarch64/ ? 26 : 294; my $n = 0;
    while (syscall($nr, 0) >= 0) { $n++; last if $n == $ARGV[0] } $| = 1; print "has $n\n";"#;

in_both_modes! {
    inotify_instances_of_one_attempt_are_missed_by_no_other,
    processes_of_one_attempt_are_missed_by_no_other,
    running_attempts_have_different_users_with_a_name,
}

async fn inotify_instances_of_one_attempt_are_missed_by_no_other(isolation: &str) {
    if !is_root() {
        return;
    }
    let (rm, home) = (Rm::start().await, Home::new());
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let hungry = rm.assign(&bash(&format!("perl -e '{INOTIFY} sleep 60' 4000")));
    has_said(&rm, hungry, "has ").await;
    let modest = rm.assign(&bash(&format!("perl -e '{INOTIFY}' 3")));
    assert_eq!(succeeds(&rm, modest).await, "has 3\n");
    assert!(rm.results(hungry).is_empty(), "it has ended");
}

async fn processes_of_one_attempt_are_missed_by_no_other(isolation: &str) {
    if !is_root() {
        return;
    }
    let (rm, home) = (Rm::start().await, Home::new());
    let limited = ["bash", "-c", "ulimit -u 60; exec \"$@\"", "limited"];
    let settings = [("EXECUTOR__ISOLATION", isolation)];
    let _agent = Agent::start_below(&home, &[&rm.address], &settings, &limited);
    rm.hello(0).await;
    let script = "for i in $(seq 40); do sleep 60 & done; echo up";
    let many = rm.assign(&bash(&format!("{script}; wait")));
    has_said(&rm, many, "up").await;
    let other = rm.assign(&bash(&format!("{script}; kill $(jobs -p)")));
    succeeds(&rm, other).await;
    let said = rm.output_text(other, Stream::Stderr);
    assert!(!said.contains("fork"), "{said}");
    assert!(rm.results(many).is_empty(), "it has ended");
}

async fn running_attempts_have_different_users_with_a_name(isolation: &str) {
    if !is_root() {
        return;
    }
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    assert!(!agent.enforces().await.split("not enforced").nth(1).unwrap().contains("own user"));
    let script = "echo $(id -u) $(id -g) $(id -G) $(id -un) $(id -gn) $(stat -c '%u %g' .) $$; \
         echo ok > file; getent passwd $(id -u) | cut -d: -f1,7; sleep 60";
    let all: Vec<LeaseKey> = (0..4).map(|_| rm.assign(&bash(script))).collect();
    let mut uids = HashSet::new();
    let mut pids = Vec::new();
    for lease in &all {
        has_said(&rm, *lease, "/bin/sh").await;
        let text = rm.output_text(*lease, Stream::Stdout);
        let mut lines = text.lines();
        let words: Vec<&str> = lines.next().unwrap().split(' ').collect();
        let uid = words[0];
        assert_eq!(words[..7], [uid, uid, uid, "berth-task", "berth-task", uid, uid], "{text}");
        let number: u32 = uid.parse().unwrap();
        assert!((2_000_000_000..=2_000_065_535).contains(&number), "{text}");
        assert_eq!(lines.next(), Some("berth-task:/bin/sh"), "{text}");
        uids.insert(number);
        pids.push(words[7].to_owned());
    }
    assert_eq!(uids.len(), all.len(), "{uids:?}");
    if isolation == "none" {
        // Nothing but its user keeps it from the others.
        let pid = &pids[0];
        let script = format!("cat /proc/{pid}/environ > /dev/null || kill -0 {pid} || echo apart");
        assert_eq!(succeeds(&rm, rm.assign(&bash(&script))).await, "apart\n");
    }
}

#[tokio::test]
async fn an_operator_may_have_one_user_for_all() {
    if !is_root() {
        return;
    }
    for (settings, own) in [
        (&[("EXECUTOR__RUN_AS_UIDS", "none")][..], false),
        (&[("EXECUTOR__RUN_AS_USER", "daemon")], false),
        (&[("EXECUTOR__RUN_AS_UIDS", "2100000000-2100000999")], true),
    ] {
        let (rm, home) = (Rm::start().await, Home::new());
        let _agent = Agent::start_with(&home, &[&rm.address], settings);
        rm.hello(0).await;
        let said = succeeds(&rm, rm.assign(&bash("id -u; id -un"))).await;
        let (uid, name) = said.trim().split_once('\n').unwrap();
        let uid: u32 = uid.parse().unwrap();
        if own {
            assert!((2_100_000_000..=2_100_000_999).contains(&uid), "{said}");
            assert_eq!(name, "berth-task");
        } else {
            assert!(uid < 1000 || uid == 65_534, "{said}");
            assert_eq!(name, if uid == 65_534 { "nobody" } else { "daemon" });
        }
    }
}

//! Signals that must not kill: of a terminal that closes, and those for logs and reloads elsewhere.

#![expect(clippy::expect_used, reason = "a test may fail this way")]

use runtime::clock;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::process::Command;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);

fn send(signal: &str) {
    let own = std::process::id().to_string();
    let sent = Command::new("kill").args([signal, &own]).status().expect("kill runs");
    assert!(sent.success());
}

#[tokio::test]
async fn sighup_announces_the_shutdown_and_user_signals_do_nothing() {
    let tasks = TaskGroup::new();
    let (_handle, shutdown) = Shutdown::from_signals(&tasks).expect("handlers are installed");
    for signal in ["-USR1", "-USR2", "-USR1"] {
        send(signal);
    }
    assert!(!shutdown.is_cancelled());
    // Where the tests run under `nohup` SIGHUP is to be ignored.
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    let is_ignored = mask.trim().ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']);
    send("-HUP");
    if is_ignored {
        send("-TERM");
    }
    clock::timeout(SOON, shutdown.cancelled()).await.expect("heard");
    // Nor does what comes while it stops.
    for signal in ["-HUP", "-USR1", "-TERM"] {
        send(signal);
    }
    tasks.join_all(Duration::from_secs(1)).await.expect("the listener is not waited for");
}

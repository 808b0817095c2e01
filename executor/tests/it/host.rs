//! What runs on this machine, seen from outside.

use runtime::clock;
use std::fs;
use std::time::Duration;

/// Waits until `holds`, looking every 10 ms.
pub async fn until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let deadline = clock::monotonic() + limit;
    while !holds() {
        assert!(clock::monotonic() < deadline, "not within {limit:?}: {what}");
        clock::sleep(Duration::from_millis(10)).await;
    }
}

/// A text that no other process has on its command line.
pub fn unique_marker() -> String {
    format!("marker-{}", domain::id::NodeId::fresh().0.simple())
}

/// Live processes with `marker` on their command line.
pub fn marked(marker: &str) -> Vec<i32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(marker))
        })
        .collect()
}

pub async fn none_left(marker: &str, limit: Duration) {
    until(&format!("no process of {marker}"), limit, || marked(marker).is_empty()).await;
}

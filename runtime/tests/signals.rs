//! SIGTERM, as an orchestrator sends it.

use runtime::clock;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::time::Duration;

#[tokio::test]
async fn sigterm_announces_the_shutdown() {
    let tasks = TaskGroup::new();
    let (_handle, shutdown) = Shutdown::from_signals(&tasks).expect("handlers are installed");
    assert!(!shutdown.is_cancelled());
    let own = std::process::id().to_string();
    let sent =
        std::process::Command::new("kill").args(["-TERM", &own]).status().expect("kill runs");
    assert!(sent.success());
    clock::timeout(Duration::from_secs(10), shutdown.cancelled()).await.expect("heard");
    tasks.join_all(Duration::from_secs(1)).await.expect("the listener is not waited for");
}

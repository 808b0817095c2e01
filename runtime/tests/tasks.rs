//! Task groups: panics are seen, loops are started again, ends are waited for.

use runtime::clock;
use runtime::shutdown::Shutdown;
use runtime::tasks::{StillRunning, TaskEnded, TaskGroup};
use std::future::pending;
use std::time::Duration;
use tokio::sync::mpsc;

const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
#[error("the connection was lost")]
struct Lost;

#[tokio::test]
async fn a_task_gives_its_output_and_a_panic_is_seen_and_counted() {
    let tasks = TaskGroup::new();
    assert_eq!(tasks.spawn("adds", async { 1 + 1 }).join().await, Ok(2));
    let mut panics = tasks.spawn("test_panics", async { panic!("on purpose") });
    assert_eq!(panics.join().await, Err(TaskEnded::Panicked));
    let mut hangs = tasks.spawn("hangs", pending::<()>());
    hangs.abort();
    assert_eq!(hangs.join().await, Err(TaskEnded::Aborted));
    let metrics = runtime::metrics::render();
    assert!(metrics.contains("berth_task_panics_total{task=\"test_panics\"} 1"), "{metrics}");
    tasks.join_all(SECOND).await.expect("all have ended");
    assert!(tasks.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_does_not_stop_in_time_is_named_and_aborted() {
    let tasks = TaskGroup::new();
    tasks.spawn("ends", clock::sleep(SECOND));
    tasks.spawn("hangs", pending::<()>());
    tasks.spawn("also_hangs", pending::<()>());
    let left = tasks.join_all(SECOND * 5).await;
    assert_eq!(left, Err(StillRunning { names: vec!["also_hangs", "hangs"] }));
    assert_eq!(tasks.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_supervised_loop_is_started_again_with_growing_pauses_until_the_shutdown() {
    let tasks = TaskGroup::new();
    let (handle, shutdown) = Shutdown::new();
    let (sender, mut starts) = mpsc::unbounded_channel();
    let mut n = 0;
    tasks.supervise("test_loop", shutdown, move || {
        n += 1;
        let _ = sender.send(clock::monotonic());
        async move {
            match n % 3 {
                0 => panic!("on purpose"),
                1 => Err(Lost),
                _ => Ok(()),
            }
        }
    });
    let mut last = starts.recv().await.expect("started");
    for step_ms in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
        let at = starts.recv().await.expect("started again");
        let (gap, step) = (at.duration_since(last), Duration::from_millis(step_ms));
        assert!(gap >= step / 2 && gap <= step + Duration::from_millis(1), "{gap:?} of {step:?}");
        last = at;
    }
    handle.shut_down();
    tasks.join_all(Duration::from_millis(1)).await.expect("it stops in its pause");
    let metrics = runtime::metrics::render();
    assert!(metrics.contains("berth_task_restarts_total{task=\"test_loop\"} 9"), "{metrics}");
    assert!(metrics.contains("berth_task_panics_total{task=\"test_loop\"} 3"), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_loop_is_made_is_survived_too() {
    let tasks = TaskGroup::new();
    let (handle, shutdown) = Shutdown::new();
    let (sender, mut starts) = mpsc::unbounded_channel();
    let mut first = true;
    tasks.supervise("test_factory", shutdown.clone(), move || {
        assert!(!std::mem::take(&mut first), "the first one cannot be made");
        let _ = sender.send(());
        let shutdown = shutdown.clone();
        async move { shutdown.cancelled().await }
    });
    starts.recv().await.expect("the second one runs");
    handle.shut_down();
    tasks.join_all(Duration::from_millis(1)).await.expect("it ends with the shutdown");
}

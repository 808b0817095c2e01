//! The tick driver, on a virtual clock: time passes only when every task waits.
#![expect(clippy::expect_used, reason = "a test helper that fails is a failed test")]

use runtime::clock::{self, Instant};
use runtime::health::Health;
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::{TaskGroup, TaskHandle};
use runtime::tick::{TickOutcome, TickPolicy, Ticker, run_ticks};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
#[error("the database is away")]
struct Away;

type Answer = Result<TickOutcome, Away>;

/// A ticker whose ticks report when they ran, and answer what `answer(n)` says for the n-th.
struct Rig {
    turns: mpsc::UnboundedReceiver<Instant>,
    handle: ShutdownHandle,
    task: TaskHandle<()>,
    health: Health,
}

fn rig(name: &'static str, wake: Option<Arc<Notify>>, answer: fn(u32) -> Answer) -> Rig {
    let (sender, turns) = mpsc::unbounded_channel();
    let (handle, shutdown) = Shutdown::new();
    let health = Health::new();
    health.set_ready(true);
    let mut ticker = Ticker::new(name, TickPolicy::every(SECOND)).health(&health);
    if let Some(wake) = wake {
        ticker = ticker.wake(wake);
    }
    let count = Arc::new(Mutex::new(0));
    let run = ticker.run(shutdown, move || {
        let n = {
            let mut count = count.lock().expect("not poisoned");
            *count += 1;
            *count
        };
        let _ = sender.send(clock::monotonic());
        async move { answer(n) }
    });
    let task = TaskGroup::new().spawn(name, run);
    Rig { turns, handle, task, health }
}

impl Rig {
    async fn turn(&mut self) -> Instant {
        self.turns.recv().await.expect("the ticker runs")
    }

    async fn gap(&mut self, since: Instant) -> Duration {
        self.turn().await.duration_since(since)
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_tick_runs_again_within_its_interval() {
    let mut rig = rig("test_idle", None, |_| Ok(TickOutcome::idle(0)));
    let mut last = rig.turn().await;
    for _ in 0..50 {
        let at = rig.turn().await;
        let gap = at.duration_since(last);
        assert!(gap >= SECOND.mul_f64(0.89) && gap <= SECOND + Duration::from_millis(1), "{gap:?}");
        last = at;
    }
}

#[tokio::test(start_paused = true)]
async fn a_tick_with_more_to_do_runs_at_once_and_one_with_a_date_at_its_date() {
    let mut rig = rig("test_again", None, |n| match n {
        1 | 2 => Ok(TickOutcome::now(10)),
        _ => Ok(TickOutcome::after(SECOND * 7, 1)),
    });
    let first = rig.turn().await;
    assert_eq!(rig.gap(first).await, Duration::ZERO);
    let third = rig.turn().await;
    assert_eq!(third, first);
    let gap = rig.gap(third).await;
    assert!(gap >= SECOND * 7 && gap <= SECOND * 7 + Duration::from_millis(2), "{gap:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wake_up_ends_the_wait_and_many_count_as_one() {
    let wake = Arc::new(Notify::new());
    let mut rig = rig("test_wake", Some(Arc::clone(&wake)), |_| Ok(TickOutcome::idle(0)));
    let first = rig.turn().await;
    (0..10).for_each(|_| wake.notify_one());
    assert_eq!(rig.gap(first).await, Duration::ZERO);
    assert!(rig.gap(first).await >= SECOND.mul_f64(0.89));
}

#[tokio::test(start_paused = true)]
async fn errors_are_waited_out_with_growing_pauses_in_spite_of_wake_ups() {
    let wake = Arc::new(Notify::new());
    let mut rig = rig("test_errors", Some(Arc::clone(&wake)), |n| match n {
        1..=4 => Err(Away),
        _ => Ok(TickOutcome::idle(0)),
    });
    let mut last = rig.turn().await;
    for step in [1, 2, 4, 5] {
        wake.notify_one();
        let at = rig.turn().await;
        let (gap, step) = (at.duration_since(last), SECOND * step);
        assert!(gap >= step / 2 && gap <= step + Duration::from_millis(1), "{gap:?} of {step:?}");
        last = at;
    }
    assert!(
        rig.gap(last).await >= SECOND.mul_f64(0.89),
        "the tick after the pause answered them all"
    );
    let metrics = runtime::metrics::render();
    assert!(
        metrics.contains("berth_tick_total{result=\"error\",tick=\"test_errors\"} 4"),
        "{metrics}"
    );
    assert!(rig.health.ready().ok);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_tick_does_not_end_the_loop() {
    let mut rig = rig("test_panic", None, |n| match n {
        1 => panic!("a bad row"),
        _ => Ok(TickOutcome::idle(3)),
    });
    rig.turn().await;
    assert!(!rig.health.ready().ok);
    rig.turn().await;
    rig.turn().await;
    assert!(rig.health.ready().ok && rig.health.live().ok);
    let metrics = runtime::metrics::render();
    assert!(
        metrics.contains("berth_tick_total{result=\"panic\",tick=\"test_panic\"} 1"),
        "{metrics}"
    );
    assert!(metrics.contains("berth_tick_last_success_timestamp_seconds{tick=\"test_panic\"} 1"));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_a_waiting_ticker_at_once() {
    let mut rig = rig("test_stop", None, |_| Ok(TickOutcome::after(SECOND * 3600, 0)));
    let at = rig.turn().await;
    rig.handle.shut_down();
    rig.task.join().await.expect("an orderly end");
    assert_eq!(clock::monotonic().duration_since(at), Duration::ZERO);
    assert_eq!(rig.health.live().checks, [], "nobody waits for it to turn any more");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_a_ticker_in_its_back_off_at_once() {
    let mut rig = rig("test_stop_backoff", None, |_| Err(Away));
    let at = rig.turn().await;
    rig.handle.shut_down();
    rig.task.join().await.expect("an orderly end");
    assert_eq!(clock::monotonic().duration_since(at), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_running_tick_may_end_after_the_shutdown_but_not_for_ever() {
    for (work, wanted) in [(SECOND, SECOND), (SECOND * 3600, SECOND * 2)] {
        let (handle, shutdown) = Shutdown::new();
        let (sender, mut entered) = mpsc::unbounded_channel();
        let run = run_ticks("test_grace", TickPolicy::every(SECOND), None, shutdown, move || {
            let _ = sender.send(());
            async move {
                clock::sleep(work).await;
                Ok::<_, Away>(TickOutcome::idle(0))
            }
        });
        let mut task = TaskGroup::new().spawn("test_grace", run);
        entered.recv().await;
        let at = clock::monotonic();
        handle.shut_down();
        task.join().await.expect("an orderly end");
        let took = clock::monotonic().duration_since(at);
        assert!(took >= wanted && took <= wanted + Duration::from_millis(2), "{took:?}");
    }
}

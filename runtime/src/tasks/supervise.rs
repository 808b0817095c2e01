//! Keeps a loop running: starts it again when it ended or panicked.
//!
//! For loops that only the shutdown should end (connections, consumers, tickers). The loop itself
//! listens to the shutdown and winds down in its own way; here it is only not started again.

use super::caught::caught;
use super::group::{TaskGroup, report_panic};
use super::handle::TaskHandle;
use crate::backoff::Backoff;
use crate::error_chain::ErrorChain;
use crate::shutdown::Shutdown;
use crate::{clock, metrics};
use std::sync::LazyLock;
use std::time::Duration;

static RESTARTS: LazyLock<metrics::CounterVec> = LazyLock::new(|| {
    metrics::counter("berth_task_restarts_total", "Supervised tasks started again", &["task"])
});

/// A loop that lived this long was well: its next restart is quick again.
const WELL: Duration = Duration::from_secs(30);

/// How a supervised loop may end: with nothing, or with a result.
pub trait Ending {
    /// Why it ended, for the log; `None` when it says nothing.
    fn reason(&self) -> Option<String>;
}

impl Ending for () {
    fn reason(&self) -> Option<String> {
        None
    }
}

impl<E: std::error::Error> Ending for Result<(), E> {
    fn reason(&self) -> Option<String> {
        self.as_ref().err().map(|error| ErrorChain(error).to_string())
    }
}

impl TaskGroup {
    /// Runs `factory()` again and again until the shutdown, with pauses of 100 ms to 5 s, spread by
    /// chance, between an end and the next start.
    pub fn supervise<F, Fut>(
        &self,
        name: &'static str,
        shutdown: Shutdown,
        mut factory: F,
    ) -> TaskHandle<()>
    where
        F: FnMut() -> Fut + Send + 'static,
        Fut: Future + Send,
        Fut::Output: Ending + Send,
    {
        self.spawn(name, async move {
            let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
            while !shutdown.is_cancelled() {
                let started = clock::monotonic();
                let ended = caught(async { factory().await }).await;
                let was_panic = ended.is_err();
                let reason = ended.map_or_else(Some, |ending| ending.reason());
                if was_panic {
                    report_panic(name, reason.as_deref().unwrap_or_default());
                }
                if shutdown.is_cancelled() {
                    break;
                }
                if started.elapsed() >= WELL {
                    backoff.reset();
                }
                let pause = backoff.pause();
                RESTARTS.with(&[name]).inc();
                if !was_panic {
                    let reason = reason.as_deref().unwrap_or("it returned");
                    tracing::warn!(
                        task = name,
                        reason,
                        ?pause,
                        "`{name}` ended ({reason}); starting it again"
                    );
                }
                shutdown.sleep(pause).await;
            }
        })
    }
}

//! The loop around a tick.
//!
//! Run by each role, one for each tick, inside `TaskGroup::supervise` or `spawn`. It returns only on
//! shutdown. Errors and panics of a tick are waited out, never passed on; meanwhile wake-ups are not
//! heeded, or each of them would hammer an engine that is down.

use super::measure::Measure;
use super::outcome::{Again, TickOutcome, TickPolicy};
use crate::backoff::{Backoff, jittered};
use crate::clock;
use crate::error_chain::ErrorChain;
use crate::health::Health;
use crate::shutdown::Shutdown;
use crate::tasks::caught;
use std::error::Error;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Drives one tick.
pub struct Ticker {
    name: &'static str,
    policy: TickPolicy,
    wake: Option<Arc<Notify>>,
    health: Option<Health>,
    /// Whether the role is ready only while this succeeds.
    needed: bool,
}

/// Why a tick gave no outcome.
enum Failure {
    Error(String),
    Panic(String),
}

/// Drives `tick` until the shutdown, without liveness; `Ticker` has that too.
pub async fn run_ticks<F, Fut, E>(
    name: &'static str,
    policy: TickPolicy,
    wake: Option<Arc<Notify>>,
    shutdown: Shutdown,
    tick: F,
) where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<TickOutcome, E>>,
    E: Error + 'static,
{
    Ticker { wake, ..Ticker::new(name, policy) }.run(shutdown, tick).await;
}

impl Ticker {
    /// `name` labels metrics, logs and liveness; one name a process.
    #[must_use]
    pub fn new(name: &'static str, policy: TickPolicy) -> Self {
        Self { name, policy, wake: None, health: None, needed: true }
    }

    /// Ticks on each wake-up too. Wake with `notify_one`: it is kept while a tick runs, and many count
    /// as one. One `Notify` a ticker, as a wake-up reaches only one of those who wait.
    #[must_use]
    pub fn wake(mut self, wake: Arc<Notify>) -> Self {
        self.wake = Some(wake);
        self
    }

    /// Reports turns and successes to `health`.
    #[must_use]
    pub fn health(mut self, health: &Health) -> Self {
        self.health = Some(health.clone());
        self
    }

    /// Reports turns to `health`, so that a hang is seen. The role does its job without its success, and stays ready.
    #[must_use]
    pub fn liveness(self, health: &Health) -> Self {
        Self { needed: false, ..self.health(health) }
    }

    /// Ticks at once, then again and again until the shutdown.
    pub async fn run<F, Fut, E>(self, shutdown: Shutdown, mut tick: F)
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<TickOutcome, E>>,
        E: Error + 'static,
    {
        if let Some(health) = &self.health {
            if self.needed {
                health.register_tick(self.name, self.policy.max_age);
            } else {
                health.register_turns(self.name, self.policy.max_age);
            }
        }
        let measure = Measure::of(self.name);
        let mut backoff = Backoff::new(self.policy.backoff_min, self.policy.backoff_max);
        let mut failures = 0_u64;
        while !shutdown.is_cancelled() {
            self.forget_wake_up();
            let started = clock::monotonic();
            let Some(result) = self.one(&shutdown, &mut tick).await else { break };
            match result {
                Ok(outcome) => {
                    measure.succeeded(started.elapsed(), outcome.done);
                    self.healed(&mut failures);
                    backoff.reset();
                    self.pause(&shutdown, outcome.again).await;
                }
                Err(failure) => {
                    measure.failed(started.elapsed(), matches!(failure, Failure::Panic(_)));
                    let pause = backoff.pause();
                    self.failed(&failure, failures, pause);
                    failures += 1;
                    shutdown.sleep(pause).await;
                }
            }
        }
        // An orderly end: nobody should wait for this tick to turn during a long drain.
        if let Some(health) = &self.health {
            health.forget_tick(self.name);
        }
    }

    /// One tick; `None` when the shutdown came and the tick did not end within its grace.
    async fn one<F, Fut, E>(
        &self,
        shutdown: &Shutdown,
        tick: &mut F,
    ) -> Option<Result<TickOutcome, Failure>>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<TickOutcome, E>>,
        E: Error + 'static,
    {
        let mut running = Box::pin(caught(async { tick().await }));
        let ended = tokio::select! {
            biased;
            ended = &mut running => ended,
            () = shutdown.cancelled() => {
                let Ok(ended) = clock::timeout(self.policy.stop_grace, running).await else {
                    let tick = self.name;
                    tracing::warn!(tick, "The tick `{tick}` did not end in time and was dropped");
                    return None;
                };
                ended
            }
        };
        Some(match ended {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(error)) => Err(Failure::Error(ErrorChain(&error).to_string())),
            Err(panic) => Err(Failure::Panic(panic)),
        })
    }

    /// A wake-up that came before the tick starts is answered by that tick.
    fn forget_wake_up(&self) {
        if let Some(wake) = &self.wake {
            pin!(wake.notified()).enable();
        }
    }

    async fn pause(&self, shutdown: &Shutdown, again: Again) {
        let pause = match again {
            // Lets other tasks of this thread run between two full batches.
            Again::Now => return tokio::task::yield_now().await,
            Again::After(pause) => pause,
            Again::Idle => jittered(self.policy.interval, self.policy.jitter),
        };
        let woken = async {
            match &self.wake {
                Some(wake) => wake.notified().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {}
            () = woken => {}
            () = clock::sleep(pause) => {}
        }
    }

    fn healed(&self, failures: &mut u64) {
        let tick = self.name;
        if let Some(health) = &self.health {
            health.ticked(tick);
        }
        if *failures > 0 {
            tracing::info!(
                tick,
                failures,
                "The tick `{tick}` works again after {failures} failures"
            );
            *failures = 0;
        }
    }

    /// Loud once, then quiet until it heals: an engine that is down for an hour fills no disk.
    fn failed(&self, failure: &Failure, before: u64, pause: Duration) {
        let tick = self.name;
        if let Some(health) = &self.health {
            health.tick_failed(tick);
        }
        match failure {
            Failure::Panic(panic) => {
                tracing::error!(tick, panic, ?pause, "The tick `{tick}` panicked: {panic}");
            }
            Failure::Error(error) if before == 0 => {
                tracing::warn!(tick, error, ?pause, "The tick `{tick}` failed: {error}");
            }
            Failure::Error(error) => {
                tracing::debug!(tick, error, ?pause, "The tick `{tick}` still fails: {error}");
            }
        }
    }
}

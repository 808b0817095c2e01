//! What a tick answers, and how its ticker waits.
//!
//! Built by roles. `Again::Now` is for "my batch was full": there is more, and waiting would only
//! add delay.

use std::time::Duration;

/// When to be called again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// At once: there is more to do.
    Now,
    /// After this long, or on a wake-up.
    After(Duration),
    /// After the policy's interval, or on a wake-up.
    Idle,
}

/// The answer of one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TickOutcome {
    /// When to be called again.
    pub again: Again,
    /// Things done (rows, messages), for the metrics.
    pub done: u64,
}

impl TickOutcome {
    /// `done` things, and nothing more to do for now.
    #[must_use]
    pub fn idle(done: u64) -> Self {
        Self { again: Again::Idle, done }
    }

    /// `done` things, and more wait.
    #[must_use]
    pub fn now(done: u64) -> Self {
        Self { again: Again::Now, done }
    }

    /// `done` things; the next is due after `pause`.
    #[must_use]
    pub fn after(pause: Duration, done: u64) -> Self {
        Self { again: Again::After(pause), done }
    }
}

/// How a ticker waits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TickPolicy {
    /// Longest pause after `Again::Idle`.
    pub interval: Duration,
    /// Share of the interval, 0.0 to 1.0, by which the pause is shortened by chance, so that
    /// processes started together do not stay in step.
    pub jitter: f64,
    /// First pause after errors; each that follows doubles it.
    pub backoff_min: Duration,
    /// Longest pause after errors.
    pub backoff_max: Duration,
    /// Time for the running tick to end after the shutdown; then it is dropped, which is safe as
    /// ticks are idempotent.
    pub stop_grace: Duration,
    /// Age without a turn at which the process counts as hung.
    pub max_age: Duration,
}

impl TickPolicy {
    /// At least every `interval`, with 10 % jitter, back-off from the interval (10 ms at least, 1 s at most: after an outage
    /// loops with long intervals, too, go on soon) to 5 s,
    /// 2 s to stop, hung after 30 s without a turn (or four intervals).
    #[must_use]
    pub fn every(interval: Duration) -> Self {
        Self {
            interval,
            jitter: 0.1,
            backoff_min: interval.clamp(Duration::from_millis(10), Duration::from_secs(1)),
            backoff_max: Duration::from_secs(5),
            stop_grace: Duration::from_secs(2),
            max_age: (interval * 4).max(Duration::from_secs(30)),
        }
    }
}

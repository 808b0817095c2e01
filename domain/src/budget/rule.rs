//! Limits of retries and of the circuit breaker.

use std::time::Duration;

/// The limits of every target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetRule {
    /// Retries added by each first attempt, 0.0 to 1.0.
    pub per_first_attempt: f64,
    /// Retries per second that are always allowed, for targets with little traffic.
    pub per_second: f64,
    /// Burst of retries beyond the traffic.
    pub burst: f64,
    /// Consecutive failures that open the breaker.
    pub open_after: u32,
    /// Interval of probes of an open breaker, with a jitter of half of it.
    pub probe_interval: Duration,
}

/// Consecutive successes that close a breaker.
pub(super) const CLOSE_AFTER: u32 = 3;

impl BudgetRule {
    /// The share of one of `holders`, each of which sees a part of the traffic.
    #[must_use]
    pub fn share(self, holders: u32) -> Self {
        let holders = f64::from(holders.max(1));
        Self {
            per_second: self.per_second / holders,
            // At least one token must be available.
            burst: (self.burst / holders).max(1.0),
            probe_interval: self.probe_interval.mul_f64(holders.min(60.0)),
            ..self
        }
    }
}

//! How much a target is sent, and when nothing more.

use std::time::Duration;

/// What holds for every target of every tenant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetRule {
    /// Retries that each first attempt pays for, however it ends. 0.0 to 1.0.
    pub per_first_attempt: f64,
    /// Retries a second that are paid for in any case, so that a target with little traffic is tried again at all.
    pub per_second: f64,
    /// Retries that are paid for in advance, and the most that go at once beyond the traffic itself.
    pub burst: f64,
    /// After so many failures in a row the breaker opens.
    pub open_after: u32,
    /// While it is open one retry goes this often, give or take half of it.
    pub probe_interval: Duration,
}

/// Successes in a row that close a breaker.
pub(super) const CLOSE_AFTER: u32 = 3;

impl BudgetRule {
    /// What each of `holders` may give away of it, where each sees its part of the traffic.
    #[must_use]
    pub fn share(self, holders: u32) -> Self {
        let holders = f64::from(holders.max(1));
        Self {
            per_second: self.per_second / holders,
            // Somebody must be able to give one away.
            burst: (self.burst / holders).max(1.0),
            probe_interval: self.probe_interval.mul_f64(holders.min(60.0)),
            ..self
        }
    }
}

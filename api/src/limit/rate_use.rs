//! What a tenant has used of its rates, for `GET /v1/limits`.
//!
//! Asked of Redis, so that what other processes admitted a moment ago is in it; without Redis it is what this process knows.

use super::admission::Limit;
use super::limiter::Limiter;
use super::meter::Meter;
use std::time::Duration;

/// The use of one rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateUse {
    /// The limit's name: the plan's field.
    pub name: &'static str,
    /// Tasks that may be submitted where none was: the burst, or what the hour has.
    pub limit: u64,
    /// Used of these, by all processes.
    pub used: u64,
    /// Tasks that may be submitted now.
    pub left: u64,
    /// Until nothing of it is used, if nothing is submitted.
    pub whole_in: Duration,
}

impl Limiter {
    /// The use of each rate that the tenant's plan limits.
    pub(crate) async fn rate_uses(&self, meter: &Meter) -> Vec<RateUse> {
        if meter.is_to_restore() {
            self.restore(meter).await;
        }
        let (_turn, _waiting) = meter.turn(0).await;
        if let Some(ask) = meter.look(self.counting.now(), &self.now()) {
            self.lease(meter, &ask, &self.figures.calls("look")).await;
        }
        let left = meter.left(self.counting.now(), &self.now());
        let burst = RateUse {
            name: Limit::PerSecond.as_str(),
            limit: u64::from(left.rates.burst),
            used: left.used,
            left: left.tokens,
            whole_in: left.full_in,
        };
        let hour = left.hour.map(|hour| RateUse {
            name: Limit::PerHour.as_str(),
            limit: u64::from(left.rates.per_hour),
            used: hour.used,
            left: hour.tasks,
            whole_in: hour.rest,
        });
        [Some(burst), hour].into_iter().flatten().collect()
    }
}

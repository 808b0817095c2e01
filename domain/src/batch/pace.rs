//! The rate at which tasks of a tenant are dispatched while some wait, in seconds of cap per second.
//!
//! The unit is that of [`super::late`], so neither the ratio of cap to real run time matters, nor the number of
//! executors, nor the competition.

use crate::time::Timestamp;
use std::time::Duration;

/// Half-life.
const HALF_LIFE_S: f64 = 10.0;

#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    caps_s: f64,
    waited_s: f64,
    waits_since: Option<Timestamp>,
}

impl Pace {
    /// Records that tasks wait at `now`.
    pub(super) fn waits(&mut self, now: Timestamp) {
        self.waits_since.get_or_insert(now);
    }

    /// Records that no task waits.
    pub(super) const fn rests(&mut self) {
        self.waits_since = None;
    }

    /// Records a dispatch.
    pub(super) fn went(&mut self, now: Timestamp, cap: Duration) {
        let since = self.waits_since.replace(now).unwrap_or(now);
        let waited_s = (now - since).as_seconds_f64().max(0.0);
        let fade = 0.5f64.powf(waited_s / HALF_LIFE_S);
        self.caps_s = self.caps_s * fade + cap.as_secs_f64();
        self.waited_s = self.waited_s * fade + waited_s;
    }

    /// Seconds of cap per second; infinite if no task had to wait.
    pub(super) fn rate(&self) -> f64 {
        if self.waited_s > 0.0 { self.caps_s / self.waited_s } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::tests::at;
    use super::*;

    const CAP: Duration = Duration::from_secs(2);

    #[test]
    fn the_rate_is_that_of_the_time_in_which_something_waited() {
        let mut pace = Pace::default();
        assert!(pace.rate().is_infinite());
        for n in 0..400 {
            // Ten a second for a second, then nothing waits for a second.
            let now = n / 10 * 2000 + n % 10 * 100;
            pace.waits(at(now));
            pace.went(at(now + 100), CAP);
            pace.rests();
        }
        assert!((pace.rate() - 20.0).abs() < 1e-6, "{}", pace.rate());
    }

    #[test]
    fn an_old_rate_fades() {
        let mut pace = Pace::default();
        (0..1000).for_each(|n| pace.went(at(n * 10), CAP));
        (0..60).for_each(|n| pace.went(at(10_000 + n * 1000), CAP));
        assert!(pace.rate() < 8.0, "{}", pace.rate());
    }
}

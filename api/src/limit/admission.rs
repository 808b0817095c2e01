//! What is asked of a limiter, and what it answers.

use domain::plan::PlanLimits;
use domain::rate::Flow;
use std::time::Duration;

/// The part of a plan that is a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rates {
    /// Tasks a second.
    pub per_second: u32,
    /// Tasks at once.
    pub burst: u32,
    /// Tasks a clock hour; 0: no limit.
    pub per_hour: u32,
}

impl From<&PlanLimits> for Rates {
    fn from(limits: &PlanLimits) -> Self {
        Self {
            per_second: limits.submits_per_second.max(1),
            burst: limits.submit_burst.max(1),
            per_hour: limits.submits_per_hour,
        }
    }
}

impl Rates {
    pub(super) fn flow(self) -> Flow {
        Flow::new(self.per_second, self.burst)
    }

    /// The most that is leased at once where nothing needs more: what comes in 100 ms.
    pub(super) fn chunk(self) -> u64 {
        u64::from(self.per_second.div_ceil(10))
    }

    /// After a lease that gave less than the `wanted` tokens, the next is asked for after this long: rarely enough to cost little, and
    /// twice in the time in which the bucket would run over. But when as many would have come it is time, too: where buckets have begun
    /// anew, who stays far below a large rate is not to be refused because a moment ago there was less than fits its demand.
    pub(super) fn pause_after(self, wanted: u64) -> Duration {
        let half = self.flow().time_of(f64::from(self.burst) / 2.0);
        let come = self.flow().time_of(wanted as f64);
        half.min(come).clamp(Duration::from_millis(2), Duration::from_millis(100))
    }
}

/// Which limit was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Requests from one address.
    Peer,
    /// Requests from one address to sign in or up, or with an invitation.
    PeerSignIns,
    /// `submits_per_second`, with its `submit_burst`.
    PerSecond,
    /// `submits_per_hour`.
    PerHour,
}

impl Limit {
    /// Its name, in answers and metrics: where it is a plan's, the plan's field.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Peer => "peer_requests_per_second",
            Self::PeerSignIns => "peer_sign_ins_per_second",
            Self::PerSecond => "submits_per_second",
            Self::PerHour => "submits_per_hour",
        }
    }
}

/// Why less was admitted than wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// Which limit.
    pub limit: Limit,
    /// How long until there is something again.
    pub wait: Duration,
}

/// How many may come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admission {
    /// As many, the first ones.
    pub admitted: u64,
    /// Why not all.
    pub shortage: Option<Shortage>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_bucket_is_asked_for_before_it_runs_over() {
        let pause = |per_second, burst, wanted| {
            Rates { per_second, burst, per_hour: 0 }.pause_after(wanted).as_millis()
        };
        assert_eq!(pause(10, 20, 1), 100);
        assert_eq!(pause(1000, 50, 100), 25);
        assert_eq!(pause(1_000_000, 1, 100_000), 2);
        assert_eq!(pause(1_000_000, 1_000_000, 12_500), 12, "when as many have come");
    }
}

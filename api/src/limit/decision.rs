//! The limits of a plan, and what the limiter decides about a submission.

use api_types::RateName;
use domain::plan::PlanLimits;
use domain::rate::{Flow, Hour};
use domain::time::Timestamp;
use runtime::clock::{Instant, monotonic, wall};
use std::time::Duration;

/// The part of a plan that is a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rates {
    /// Tasks per second.
    pub per_second: u32,
    /// Tasks at once.
    pub burst: u32,
    /// Tasks per clock hour; 0: no limit.
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
}

/// Why fewer tasks were admitted than wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// The limit that was met.
    pub limit: RateName,
    /// How long until more is admitted.
    pub wait: Duration,
}

/// What the limiter decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The first so many tasks are admitted.
    pub admitted: u64,
    /// Why not all.
    pub shortage: Option<Shortage>,
}

/// A point in time: on the monotonic clock, and as the hour is counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub at: Instant,
    pub wall: Timestamp,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self { at: monotonic(), wall: wall() }
    }

    pub(super) fn hour(&self) -> Hour {
        Hour::of(self.wall)
    }
}

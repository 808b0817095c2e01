//! The machine's monotonic clock as a plain number, the same in every process.
//!
//! `Instant` cannot be sent from the agent to a supervisor; nanoseconds of CLOCK_MONOTONIC can. Only
//! deadlines that cross that border use this; everything else reads `runtime::clock`.

use nix::time::{ClockId, clock_gettime};
use runtime::clock::{self, Instant};

/// Nanoseconds since some fixed point, never going back. 0 if the machine has no such clock, which
/// makes every deadline lie in the future: Linux always has one.
pub(crate) fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        let seconds = u64::try_from(now.tv_sec()).unwrap_or(0);
        seconds * 1_000_000_000 + u64::try_from(now.tv_nsec()).unwrap_or(0)
    })
}

/// `at` in nanoseconds of the machine's clock. Reads that clock first, so that being interrupted between
/// the two can only make it earlier.
pub(crate) fn until_ns(at: Instant) -> u64 {
    let now_ns = monotonic_ns();
    let left = at.saturating_duration_since(clock::monotonic());
    now_ns.saturating_add(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX))
}

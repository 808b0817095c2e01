//! The machine's monotonic clock as a plain number, the same in every process.
//!
//! `Instant` cannot be sent from the agent to a supervisor; nanoseconds of CLOCK_MONOTONIC can. Only
//! deadlines that cross that border use this; everything else reads `runtime::clock`.

use nix::time::{ClockId, clock_gettime};

/// Nanoseconds since some fixed point, never going back. 0 if the machine has no such clock, which
/// makes every deadline lie in the future: Linux always has one.
pub(crate) fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        let seconds = u64::try_from(now.tv_sec()).unwrap_or(0);
        seconds * 1_000_000_000 + u64::try_from(now.tv_nsec()).unwrap_or(0)
    })
}

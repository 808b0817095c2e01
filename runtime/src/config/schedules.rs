//! `[schedules]`: who fires schedules, how far ahead they are known, and when a fire is overdue.
//!
//! Read by `scheduler` at start-up.

use super::checks::{Checks, ms, secs};
use super::values::duration;
use serde::Deserialize;
use std::time::Duration;

/// Settings of `[schedules]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchedulesConfig {
    /// Parts that all schedules are dealt into.
    pub shards: u16,
    /// Term of the ownership of shards.
    #[serde(deserialize_with = "duration")]
    pub lease: Duration,
    /// How far ahead due times are held in memory.
    #[serde(deserialize_with = "duration")]
    pub window: Duration,
    /// Due times that are held in memory at once.
    pub max_timers: usize,
    /// Fires written in one transaction.
    pub fire_batch: usize,
    /// Age from which a due time is the misfire policy's.
    #[serde(deserialize_with = "duration")]
    pub misfire_after: Duration,
    /// Age from which a due time without an outcome is told of.
    #[serde(deserialize_with = "duration")]
    pub missed_after: Duration,
}

impl SchedulesConfig {
    pub(super) fn check(&self, checks: &mut Checks) {
        checks.number("schedules.shards", self.shards, 1..=1024);
        checks.duration("schedules.lease", self.lease, ms(500)..=secs(4));
        checks.duration("schedules.window", self.window, secs(1)..=secs(60));
        checks.number("schedules.max_timers", self.max_timers, 1000..=10_000_000);
        checks.number("schedules.fire_batch", self.fire_batch, 1..=5000);
        checks.duration("schedules.misfire_after", self.misfire_after, secs(1)..=secs(3600));
        checks.duration("schedules.missed_after", self.missed_after, secs(1)..=secs(3600));
        checks.rule(
            "schedules.misfire_after",
            self.misfire_after > self.lease,
            "must be above `schedules.lease`, or a takeover makes misfires of what is merely late",
        );
    }
}

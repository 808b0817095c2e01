//! `[scheduler]`: how often, how far ahead and how much at once.
//!
//! Read by `scheduler` at start-up.

use super::checks::{Checks, ms, secs};
use super::values::{address, duration};
use serde::Deserialize;
use std::net::SocketAddr;
use std::time::Duration;

/// Settings of `[scheduler]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchedulerConfig {
    /// Address of the probes; port 0 takes a free one.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// Term of the active batcher.
    #[serde(deserialize_with = "duration")]
    pub batcher_lease: Duration,
    /// Longest pause between two ticks.
    #[serde(deserialize_with = "duration")]
    pub tick_max: Duration,
    /// Longest pause between two ticks of the batcher while tasks wait for room.
    #[serde(deserialize_with = "duration")]
    pub tick_busy: Duration,
    /// How far ahead of free slots tasks are handed out.
    #[serde(deserialize_with = "duration")]
    pub horizon: Duration,
    /// Hints in one message.
    pub hint_batch: usize,
    /// Age at which an unplaced task is taken back.
    #[serde(deserialize_with = "duration")]
    pub sweep_age: Duration,
    /// How far ahead due tasks are held in memory; zero: not at all.
    #[serde(deserialize_with = "duration")]
    pub due_window: Duration,
    /// Due tasks released in one statement.
    pub due_batch: u32,
    /// Tasks handed out in one tick.
    pub max_batch: u32,
}

impl SchedulerConfig {
    pub(super) fn check(&self, checks: &mut Checks) {
        checks.duration("scheduler.batcher_lease", self.batcher_lease, ms(500)..=secs(4));
        checks.duration("scheduler.tick_max", self.tick_max, ms(5)..=secs(5));
        checks.duration("scheduler.tick_busy", self.tick_busy, ms(1)..=ms(100));
        checks.duration("scheduler.horizon", self.horizon, ms(0)..=ms(250));
        checks.number("scheduler.hint_batch", self.hint_batch, 1..=100);
        checks.duration("scheduler.sweep_age", self.sweep_age, ms(200)..=secs(300));
        if !self.due_window.is_zero() {
            checks.duration("scheduler.due_window", self.due_window, ms(400)..=secs(10));
        }
        checks.number("scheduler.due_batch", self.due_batch, 1..=10_000);
        checks.number("scheduler.max_batch", self.max_batch, 1..=100_000);
    }
}

//! K: how much work may be in the broker at once.
//!
//! Dispatched tasks cannot be re-ordered, so K is the free slots plus completions within the horizon, less queued
//! slots. A slot is the room of one basic task. An urgent task waits behind at most `horizon` of completions.

use std::time::Duration;

/// Input for the size of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PoolLoad {
    /// Free slots on executors that accept work.
    pub free_slots: u64,
    /// Recent rate of freed slots per second.
    pub completed_slots_per_second: f64,
    /// Slots of tasks that are `queued` now.
    pub queued_slots: u64,
}

/// Slots that may be dispatched now.
#[must_use]
pub fn batch_slots(load: PoolLoad, horizon: Duration) -> u64 {
    let rate = load.completed_slots_per_second;
    let soon =
        if rate.is_finite() && rate > 0.0 { (rate * horizon.as_secs_f64()) as u64 } else { 0 };
    load.free_slots.saturating_add(soon).saturating_sub(load.queued_slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HORIZON: Duration = Duration::from_millis(50);

    #[test]
    fn an_idle_pool_is_filled_once() {
        let idle = PoolLoad { free_slots: 100, ..PoolLoad::default() };
        assert_eq!(batch_slots(idle, HORIZON), 100);
        assert_eq!(batch_slots(PoolLoad { queued_slots: 100, ..idle }, HORIZON), 0);
    }

    #[test]
    fn a_full_pool_is_fed_what_will_finish_within_the_horizon() {
        let full = PoolLoad { free_slots: 0, completed_slots_per_second: 2000.0, queued_slots: 30 };
        assert_eq!(batch_slots(full, HORIZON), 70);
    }

    #[test]
    fn nonsense_rates_count_as_none() {
        for rate in [f64::NAN, f64::INFINITY, -5.0] {
            let load = PoolLoad { completed_slots_per_second: rate, ..PoolLoad::default() };
            assert_eq!(batch_slots(load, HORIZON), 0);
        }
    }
}

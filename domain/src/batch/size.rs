//! K: how much work may be in the broker at once.
//!
//! What is in the broker cannot be re-ordered any more, so K is what will be placed at once (free
//! slots) plus what finishes within the horizon, less what is queued already. A slot is the room of
//! one basic task. Bound on inversion: a task that becomes urgent waits behind at most `horizon` of completions.

use std::time::Duration;

/// What is known of one pool when a batch is sized.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PoolLoad {
    /// Slots free on executors that take work.
    pub free_slots: u64,
    /// Slots given back per second, over the last moments.
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

//! When the batcher's next tick begins. This is the only rule for its pace:
//!
//! - A tick begins at a wake-up, and at the latest when its timer ends: `scheduler.tick_busy` where
//!   tasks wait for room, `scheduler.tick_max` where nothing waits.
//! - After a busy tick (two tasks or more went, or more may go at once) the next begins without a
//!   wake-up, after a pause as long as that tick took, `scheduler.tick_busy` at most. So under load
//!   ticks take at most half of the time, and batches grow where they are slow; a single task
//!   delays no other.

use std::time::Duration;

/// What the next tick of a pool waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WaitsFor {
    /// More may be dispatched at once.
    Nothing,
    /// Tasks may wait, and there is no room. Not every task that is placed or ends is reported.
    Room,
    /// All that may start was dispatched, or room is reported when there is some.
    WakeUp,
}

/// What a tick did, in all pools.
#[derive(Debug, Clone, Copy)]
pub(super) struct TickSummary {
    /// Time it took.
    pub took: Duration,
    /// Tasks it dispatched.
    pub tasks: u64,
    pub waits_for: WaitsFor,
    /// Tasks wait for a limit, and what runs may be counted again after this.
    pub count_in: Option<Duration>,
}

/// How to wait for the next tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NextTick {
    /// First this passes, whatever wakes the batcher.
    pub pause: Duration,
    /// Then a wake-up or this; `None`: a wake-up or `scheduler.tick_max`.
    pub timer: Option<Duration>,
}

impl NextTick {
    pub(super) fn after(tick: TickSummary, tick_busy: Duration) -> Self {
        let TickSummary { took, tasks, waits_for, count_in } = tick;
        let is_busy = tasks >= 2 || waits_for == WaitsFor::Nothing;
        let timer = match waits_for {
            WaitsFor::Room => Some(tick_busy),
            WaitsFor::Nothing | WaitsFor::WakeUp => is_busy.then_some(Duration::ZERO),
        };
        Self {
            pause: if is_busy { took.min(tick_busy) } else { Duration::ZERO },
            timer: [timer, count_in].into_iter().flatten().min(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Duration = Duration::from_millis(10);
    const TOOK: Duration = Duration::from_millis(3);

    fn next(tasks: u64, waits_for: WaitsFor) -> (Duration, Option<Duration>) {
        let tick = TickSummary { took: TOOK, tasks, waits_for, count_in: None };
        let NextTick { pause, timer } = NextTick::after(tick, BUSY);
        (pause, timer)
    }

    #[test]
    fn after_one_task_or_none_the_next_wake_up_is_followed_at_once() {
        for tasks in [0, 1] {
            assert_eq!(next(tasks, WaitsFor::WakeUp), (Duration::ZERO, None));
            assert_eq!(next(tasks, WaitsFor::Room), (Duration::ZERO, Some(BUSY)));
        }
    }

    #[test]
    fn a_busy_tick_is_followed_by_another_without_a_wake_up_after_as_long_as_it_took() {
        assert_eq!(next(2, WaitsFor::WakeUp), (TOOK, Some(Duration::ZERO)));
        assert_eq!(next(0, WaitsFor::Nothing), (TOOK, Some(Duration::ZERO)));
        assert_eq!(next(500, WaitsFor::Room), (TOOK, Some(BUSY)), "or as soon as there is room");
    }

    #[test]
    fn no_pause_is_longer_than_the_setting() {
        let tick = TickSummary {
            took: Duration::from_secs(1),
            tasks: 5000,
            waits_for: WaitsFor::Nothing,
            count_in: None,
        };
        assert_eq!(NextTick::after(tick, BUSY).pause, BUSY);
        assert_eq!(NextTick::after(tick, Duration::ZERO).pause, Duration::ZERO);
    }

    #[test]
    fn where_tasks_wait_for_a_limit_the_next_tick_begins_when_what_runs_may_be_counted() {
        let count_in = Some(Duration::from_millis(7));
        let tick = TickSummary { took: TOOK, tasks: 1, waits_for: WaitsFor::WakeUp, count_in };
        assert_eq!(NextTick::after(tick, BUSY).timer, count_in);
        let tick = TickSummary { tasks: 2, ..tick };
        assert_eq!(NextTick::after(tick, BUSY).timer, Some(Duration::ZERO));
    }
}

//! How long the batcher rests after a tick, and how soon it looks again.
//!
//! Where little comes a tick delays nobody; where much does, fewer and larger ticks leave the processors to the rest of the way.

use std::time::Duration;

/// The longest rest after a tick that found work.
const REST: Duration = Duration::from_millis(10);
/// What a tick must dispatch to rest the longest. One that dispatched a fraction of it rests the square of that fraction: so at half of
/// what is possible ticks are small and hardly rest (0.2 ms after 25 tasks), and at all of it they are large and few.
/// In proportion it was too long at the one where it was long enough at the other.
const LARGE: f64 = 200.0;
/// A tick that handed out as many is followed by one that waits for no wake-up: those come some milliseconds apart where work is plenty, and
/// are on their way for another.
pub(super) const MANY: u64 = 16;
/// From the begin of such a tick to that of the next, at least, ...
const PACE: Duration = Duration::from_micros(4500);
/// ... where no more than this come in as long; else longer, by the square again, up to [`REST`]: at the maximum small ticks would
/// take the processors from those who submit, and stay small.
const OF_A_PACE: f64 = 40.0;
/// How many paces it takes to notice two thirds of a change. Tasks come in groups of sixteen: at 8 000 a second one tick finds 32 and the
/// next 48, and by each alone every other one would be long.
const MEMORY: f64 = 10.0;

/// The rest after a tick that dispatched as many.
pub(super) fn rest_after(tasks: u64) -> Duration {
    let part = (tasks as f64 / LARGE).min(1.0);
    REST.mul_f64(part * part)
}

/// How soon the batcher looks again where much comes. It follows how many come in a second, not how many a tick found: or long ticks, which
/// find more, would stay long.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Tasks that were dispatched in a pace, of late.
    tasks: f64,
}

impl Pace {
    /// To be told of each tick: how many it dispatched, and how long before it the one before began.
    pub(super) fn ticked(&mut self, tasks: u64, since: Duration) {
        let paces = since.div_duration_f64(PACE).max(1.0);
        let noticed = 1.0 - (-paces / MEMORY).exp();
        self.tasks += (tasks as f64 / paces - self.tasks) * noticed;
    }

    /// From the begin of the last tick to that of the next.
    pub(super) fn next(&self) -> Duration {
        let part = (self.tasks / OF_A_PACE).clamp(1.0, 2.0);
        PACE.mul_f64(part * part).min(REST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_tasks_delay_nobody_and_no_rest_is_longer_than_the_longest() {
        let micros = |tasks| rest_after(tasks).as_micros();
        assert_eq!([1, 25, 100, 200].map(micros), [0, 156, 2500, 10_000]);
        assert_eq!(rest_after(u64::MAX), REST);
    }

    /// What the pace comes to where so many come in a second, in groups of sixteen: those of all ticks after a second, in microseconds.
    fn paces(per_second: f64, pace: &mut Pace) -> Vec<u128> {
        let (mut paces, mut passed, mut dispatched) = (Vec::new(), 0.0, 0);
        while passed < 2.0 {
            let since = pace.next();
            passed += since.as_secs_f64();
            let tasks = (per_second * passed / 16.0) as u64 * 16 - dispatched;
            dispatched += tasks;
            pace.ticked(tasks, since);
            if passed > 1.0 {
                paces.push(pace.next().as_micros());
            }
        }
        paces
    }

    #[test]
    fn where_few_thousand_come_in_a_second_ticks_are_short_and_at_the_maximum_long() {
        let mut pace = Pace::default();
        for (per_second, expected) in [
            (4000.0, 4500..4501),
            (8000.0, 4500..4501),
            (10_000.0, 5000..7000),
            (18_000.0, 10_000..10_001),
            // And back from there.
            (10_000.0, 5000..7000),
            (8000.0, 4500..4501),
        ] {
            let paces = paces(per_second, &mut pace);
            assert!(paces.iter().all(|pace| expected.contains(pace)), "{per_second}: {paces:?}");
        }
    }

    #[test]
    fn no_tick_is_too_large_or_too_soon_after_the_last_for_a_pace() {
        let mut pace = Pace::default();
        pace.ticked(MANY, Duration::ZERO);
        assert_eq!(pace.next(), PACE);
        pace.ticked(u64::MAX, Duration::from_secs(3600));
        assert_eq!(pace.next(), REST);
    }
}

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

/// The rest after a tick that dispatched as many.
pub(super) fn rest_after(tasks: u64) -> Duration {
    let part = (tasks as f64 / LARGE).min(1.0);
    REST.mul_f64(part * part)
}

/// From the begin of a tick that dispatched as many to that of the next, where the one before began so long before it. It follows how many
/// come in a second, not how many came: or long ticks, which find more, would stay long.
pub(super) fn pace_after(tasks: u64, since: Duration) -> Duration {
    let paces = since.div_duration_f64(PACE).max(1.0);
    let part = (tasks as f64 / paces / OF_A_PACE).clamp(1.0, 2.0);
    PACE.mul_f64(part * part).min(REST)
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

    #[test]
    fn where_few_thousand_come_in_a_second_ticks_are_short_and_at_the_maximum_long() {
        let pace = |per_second: u64, ms: u64| {
            pace_after(per_second * ms / 1000, Duration::from_millis(ms)).as_micros()
        };
        for since in [5, 10] {
            assert_eq!(pace(4000, since), 4500);
            assert_eq!(pace(8000, since), 4500);
            assert_eq!(pace(14_000, since), 10_000);
        }
        assert!((5000..7000).contains(&pace(10_000, 5)));
        assert_eq!(pace_after(MANY, Duration::ZERO), PACE);
        assert_eq!(pace_after(u64::MAX, Duration::ZERO), REST);
    }
}

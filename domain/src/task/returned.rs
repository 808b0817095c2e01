//! How long a task waits whose attempts come back: never started, given back or lost.
//!
//! The first goes on at once: a draining executor's tasks lose no time. From the second on each waits for twice as long, so that
//! an executor which refuses everything does not make the rest of Berth work for nothing. An attempt that lasted is no such
//! thing: what it lasted counts as waited for.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const MOST: Duration = Duration::from_secs(30);

/// The wait after an attempt that came back and had `lasted` since its placement. `returned` are all of the task's that came
/// back, this one included; `unit` is a random number in 0.0..1.0.
#[must_use]
pub fn wait_after_return(returned: u32, lasted: Duration, unit: f64) -> Duration {
    if returned < 2 {
        return Duration::ZERO;
    }
    let twice = 2_u32.saturating_pow((returned - 2).min(31));
    let back_off = FIRST.saturating_mul(twice).min(MOST);
    // Between half of it and all: those that came back together do not go together.
    back_off.mul_f64(0.5 + unit.clamp(0.0, 1.0) / 2.0).saturating_sub(lasted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_comes_back_goes_on_at_once_and_the_next_wait_ever_longer() {
        let waits: Vec<_> =
            (0..5).map(|n| wait_after_return(n, Duration::ZERO, 1.0).as_millis()).collect();
        assert_eq!(waits, [0, 0, 100, 200, 400]);
        assert_eq!(wait_after_return(u32::MAX, Duration::ZERO, 1.0), MOST);
        assert_eq!(wait_after_return(3, Duration::ZERO, 0.0), Duration::from_millis(100));
    }

    #[test]
    fn at_most_twenty_in_six_seconds_however_chance_has_it() {
        let (mut now, mut attempts) = (Duration::ZERO, 0);
        while now < Duration::from_secs(6) {
            attempts += 1;
            now += wait_after_return(attempts, Duration::ZERO, 0.0);
        }
        assert!(attempts <= 20, "{attempts}");
    }

    #[test]
    fn what_ran_for_long_is_given_back_without_a_wait() {
        assert_eq!(wait_after_return(40, MOST, 1.0), Duration::ZERO);
        assert_eq!(wait_after_return(4, Duration::from_millis(150), 1.0).as_millis(), 250);
    }
}

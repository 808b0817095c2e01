//! When a delivery is tried again, and when a webhook is given up.

use std::time::Duration;

/// A delivery is given up so long after its event.
pub const MAX_AGE: Duration = Duration::from_hours(72);
/// The wait after the first try; each next one is three times as long.
const FIRST: Duration = Duration::from_secs(5);
/// The longest wait of our own.
const LONGEST: Duration = Duration::from_hours(6);
/// The longest wait that a receiver may ask for.
const MOST_ASKED: Duration = Duration::from_hours(24);

/// How long to wait after the `tries`-th try, which was made `age` after the event; `None`: it is given up. At least what the receiver
/// asked for by `Retry-After`, up to a day; `unit` of 0 to 1 spreads it by a fifth to either side.
///
/// Waits are 5 s, 15 s, 45 s, ... up to 6 h: about 20 tries within three days.
#[must_use]
pub fn next_try(
    tries: u32,
    age: Duration,
    retry_after: Option<Duration>,
    unit: f64,
) -> Option<Duration> {
    let factor = 3_u32.saturating_pow(tries.saturating_sub(1).min(12));
    let own = FIRST.saturating_mul(factor).min(LONGEST);
    let spread = own.mul_f64(0.8 + 0.4 * unit.clamp(0.0, 1.0));
    let wait = spread.max(retry_after.unwrap_or_default().min(MOST_ASKED));
    (age + wait <= MAX_AGE).then_some(wait)
}

/// Whether a webhook is disabled: `failures` tries in a row had no success, the first of them `failing_for` ago. So many and so long:
/// neither a short outage under much traffic nor a few tries over days are enough.
#[must_use]
pub fn disables(failures: u32, failing_for: Duration, at_least: (u32, Duration)) -> bool {
    failures >= at_least.0 && failing_for >= at_least.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_six_hours_and_end_after_three_days() {
        let (mut age, mut tries, mut waits) = (Duration::ZERO, 0, Vec::new());
        loop {
            tries += 1;
            let Some(wait) = next_try(tries, age, None, 0.5) else { break };
            waits.push(wait.as_secs());
            age += wait;
        }
        assert_eq!(waits[..5], [5, 15, 45, 135, 405]);
        assert_eq!(waits.last(), Some(&21_600));
        assert!((18..=22).contains(&tries), "{tries}");
        assert!(age <= MAX_AGE && age > MAX_AGE - LONGEST, "{age:?}");
    }

    #[test]
    fn a_receiver_may_ask_for_more_time_up_to_a_day() {
        let wait = |asked| next_try(1, Duration::ZERO, Some(Duration::from_secs(asked)), 0.5);
        assert_eq!(wait(1), Some(FIRST));
        assert_eq!(wait(3600), Some(Duration::from_hours(1)));
        assert_eq!(wait(u64::MAX), Some(MOST_ASKED));
        assert_eq!(next_try(1, Duration::from_hours(71), Some(Duration::from_hours(2)), 0.5), None);
    }

    #[test]
    fn waits_are_spread_by_a_fifth() {
        let at = |unit| next_try(2, Duration::ZERO, None, unit).map(|wait| wait.as_millis());
        assert_eq!((at(0.0), at(1.0), at(9.0)), (Some(12_000), Some(18_000), Some(18_000)));
    }

    #[test]
    fn a_webhook_is_disabled_after_many_failures_over_a_long_time() {
        let at_least = (20, Duration::from_hours(24));
        assert!(disables(20, Duration::from_hours(24), at_least));
        assert!(!disables(19, Duration::from_hours(90), at_least));
        assert!(!disables(5000, Duration::from_hours(23), at_least));
    }
}

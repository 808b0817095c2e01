//! Pauses that double and are spread by chance.
//!
//! Used by ticks, supervised loops and the bus's reconnects. The spread keeps a hundred processes
//! that lost the same engine from all returning in the same millisecond.

use std::time::Duration;

/// Doubling pauses between `min` and `max`.
#[derive(Debug, Clone)]
pub struct Backoff {
    min: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    /// Starts at `min` (at least 1 ms), never passes `max`.
    #[must_use]
    pub fn new(min: Duration, max: Duration) -> Self {
        let min = min.clamp(Duration::from_millis(1), max.max(Duration::from_millis(1)));
        Self { min, max: max.max(min), next: min }
    }

    /// The next pause: between half and all of the present step; the step doubles.
    pub fn pause(&mut self) -> Duration {
        let step = self.next;
        self.next = (step * 2).min(self.max);
        step.mul_f64(rand::random_range(0.5..=1.0))
    }

    /// Starts over at `min`, after a success.
    pub fn reset(&mut self) {
        self.next = self.min;
    }
}

/// `duration` shortened by up to `share` (0.0 to 1.0) of itself, by chance. Never longer, so that
/// "at most every 200 ms" stays true.
#[must_use]
pub fn jittered(duration: Duration, share: f64) -> Duration {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    duration.mul_f64(1.0 - rand::random_range(0.0..=share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_start_over() {
        let (min, max) = (Duration::from_millis(100), Duration::from_secs(5));
        let mut backoff = Backoff::new(min, max);
        for step in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let pause = backoff.pause();
            let step = Duration::from_millis(step);
            assert!(pause >= step / 2 && pause <= step, "{pause:?} for {step:?}");
        }
        backoff.reset();
        assert!(backoff.pause() <= min);
    }

    #[test]
    fn jitter_only_shortens() {
        let whole = Duration::from_millis(200);
        for _ in 0..1000 {
            let some = jittered(whole, 0.2);
            assert!(some <= whole && some >= Duration::from_millis(159), "{some:?}");
        }
        assert_eq!(jittered(whole, f64::NAN), whole);
    }
}

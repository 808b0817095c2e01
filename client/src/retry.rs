//! How often, and after which waits, a request is sent again.
//!
//! Asked by `send` after every try that may be repeated. The waits double and are drawn evenly from nothing to the
//! doubled value, so that clients that failed together do not come back together; a server's `Retry-After` is the least
//! wait. A `Retry-After` above `wait_max` is returned as an error instead.

use std::time::Duration;

/// Retry policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries in all, the first included; 1 never repeats.
    pub tries: u32,
    /// Upper bound of the first wait.
    pub first_wait: Duration,
    /// Upper bound of every wait.
    pub wait_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { tries: 5, first_wait: Duration::from_millis(200), wait_max: Duration::from_secs(10) }
    }
}

impl RetryPolicy {
    /// Never repeats.
    pub const NEVER: Self = Self { tries: 1, first_wait: Duration::ZERO, wait_max: Duration::ZERO };

    /// The wait after try number `tried` (1 upwards) failed; `None` when that was the last. `unit` is a random number
    /// from 0 to 1.
    pub(crate) fn wait(
        &self,
        tried: u32,
        retry_after: Option<Duration>,
        unit: f64,
    ) -> Option<Duration> {
        let requested = retry_after.unwrap_or_default();
        if tried >= self.tries || requested > self.wait_max {
            return None;
        }
        let doubled = self
            .first_wait
            .saturating_mul(1_u32.checked_shl(tried.saturating_sub(1)).unwrap_or(u32::MAX));
        let spread = doubled.min(self.wait_max).mul_f64(unit.clamp(0.0, 1.0));
        // Jitter in addition to `Retry-After`, so that clients with the same value do not retry together.
        Some(requested.saturating_add(spread).min(self.wait_max.max(requested)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        tries: 4,
        first_wait: Duration::from_millis(100),
        wait_max: Duration::from_millis(350),
    };

    #[test]
    fn waits_double_up_to_their_bound_and_then_end() {
        let waits: Vec<_> = (1..=5).map(|tried| POLICY.wait(tried, None, 1.0)).collect();
        let ms = |n| Some(Duration::from_millis(n));
        assert_eq!(waits, [ms(100), ms(200), ms(350), None, None]);
        assert_eq!(POLICY.wait(1, None, 0.0), Some(Duration::ZERO));
    }

    #[test]
    fn retry_after_is_respected_up_to_the_limit() {
        let requested = Duration::from_millis(300);
        assert!(POLICY.wait(1, Some(requested), 0.5).is_some_and(|wait| wait >= requested));
        assert_eq!(POLICY.wait(1, Some(Duration::from_secs(60)), 0.5), None);
    }

    #[test]
    fn one_try_is_one_try_and_large_numbers_do_not_overflow() {
        assert_eq!(RetryPolicy::NEVER.wait(1, None, 0.5), None);
        let many = RetryPolicy { tries: u32::MAX, ..POLICY };
        assert_eq!(many.wait(1000, None, 1.0), Some(POLICY.wait_max));
    }
}

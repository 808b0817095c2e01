//! Whether a failed attempt is followed by another, and when.
//!
//! Full jitter: the wait is drawn evenly from 0 to the back-off, which spreads a herd best (Brooker,
//! "Exponential Backoff And Jitter", 2015). The random number is passed in, so this stays pure.

use crate::time::text;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How the wait grows from one attempt to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backoff {
    /// Always `initial`.
    Constant,
    /// `initial` x number of failures.
    Linear,
    /// `initial` x `factor` ^ (failures - 1).
    Exponential,
}

/// What to do when an attempt fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryPolicy {
    /// How the wait grows.
    pub backoff: Backoff,
    /// The first wait.
    #[serde(with = "text")]
    pub initial: Duration,
    /// Growth of `exponential`, 1.0 to 100.0.
    pub factor: f64,
    /// The longest wait.
    #[serde(with = "text")]
    pub max: Duration,
    /// Draw the wait evenly from 0 to the back-off.
    pub jitter: bool,
    /// Exit codes after which there is no other attempt: the task ends `aborted`.
    pub abort_on_exit_codes: Vec<i32>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            backoff: Backoff::Exponential,
            initial: Duration::from_secs(1),
            factor: 2.0,
            max: Duration::from_secs(300),
            jitter: true,
            abort_on_exit_codes: Vec::new(),
        }
    }
}

/// What a lost attempt means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// A lost attempt runs again.
    AtLeastOnce,
    /// A lost attempt ends the task `failed`.
    AtMostOnce,
}

impl Delivery {
    /// Its name in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AtLeastOnce => "at_least_once",
            Self::AtMostOnce => "at_most_once",
        }
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text is no delivery.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected at_least_once or at_most_once")]
pub struct ParseDeliveryError;

impl FromStr for Delivery {
    type Err = ParseDeliveryError;

    fn from_str(text: &str) -> Result<Self, ParseDeliveryError> {
        match text {
            "at_least_once" => Ok(Self::AtLeastOnce),
            "at_most_once" => Ok(Self::AtMostOnce),
            _ => Err(ParseDeliveryError),
        }
    }
}

/// What follows a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// Another attempt after this wait.
    After(Duration),
    /// No attempts are left.
    Exhausted,
    /// The exit code is on the policy's abort list.
    Abort,
}

/// Decides after a failed attempt.
///
/// `failures` counts charged failures, this one included (1 upwards); `unit` is a random number in
/// 0.0..1.0, used when the policy asks for jitter.
#[must_use]
pub fn decide_retry(
    policy: &RetryPolicy,
    failures: u32,
    max_attempts: u32,
    exit_code: Option<i32>,
    unit: f64,
) -> RetryDecision {
    if exit_code.is_some_and(|code| policy.abort_on_exit_codes.contains(&code)) {
        return RetryDecision::Abort;
    }
    if failures >= max_attempts {
        return RetryDecision::Exhausted;
    }
    let backoff = policy.backoff_after(failures);
    RetryDecision::After(if policy.jitter {
        backoff.mul_f64(unit.clamp(0.0, 1.0))
    } else {
        backoff
    })
}

impl RetryPolicy {
    /// The wait after `failures` failures (1 upwards), before jitter; never above `max`.
    #[must_use]
    pub fn backoff_after(&self, failures: u32) -> Duration {
        let steps = failures.max(1) - 1;
        let seconds = self.initial.as_secs_f64()
            * match self.backoff {
                Backoff::Constant => 1.0,
                Backoff::Linear => f64::from(steps) + 1.0,
                Backoff::Exponential => self.factor.powf(f64::from(steps)),
            };
        // NaN and infinity, from extreme factors, mean the longest wait.
        if seconds < self.max.as_secs_f64() {
            Duration::from_secs_f64(seconds.max(0.0))
        } else {
            self.max
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn policy(backoff: Backoff) -> RetryPolicy {
        RetryPolicy { backoff, jitter: false, ..RetryPolicy::default() }
    }

    #[test]
    fn each_backoff_grows_as_named_up_to_max() {
        let waits = |b| [1, 2, 3, 20].map(|n| policy(b).backoff_after(n).as_secs());
        assert_eq!(waits(Backoff::Constant), [1, 1, 1, 1]);
        assert_eq!(waits(Backoff::Linear), [1, 2, 3, 20]);
        assert_eq!(waits(Backoff::Exponential), [1, 2, 4, 300]);
    }

    #[test]
    fn an_exit_code_on_the_list_aborts_even_with_attempts_left() {
        let policy = RetryPolicy { abort_on_exit_codes: vec![2], ..RetryPolicy::default() };
        assert_eq!(decide_retry(&policy, 1, 9, Some(2), 0.5), RetryDecision::Abort);
        assert!(matches!(decide_retry(&policy, 1, 9, Some(3), 0.5), RetryDecision::After(_)));
        assert!(matches!(decide_retry(&policy, 1, 9, None, 0.5), RetryDecision::After(_)));
    }

    #[test]
    fn attempts_run_out_exactly_at_the_limit() {
        let policy = RetryPolicy::default();
        assert!(matches!(decide_retry(&policy, 2, 3, Some(1), 0.0), RetryDecision::After(_)));
        assert_eq!(decide_retry(&policy, 3, 3, Some(1), 0.0), RetryDecision::Exhausted);
    }

    proptest! {
        #[test]
        fn a_wait_never_passes_max(failures in 1u32..10_000, factor in 1.0f64..100.0, unit in 0.0f64..1.0) {
            let policy = RetryPolicy { factor, ..RetryPolicy::default() };
            match decide_retry(&policy, failures, u32::MAX, None, unit) {
                RetryDecision::After(wait) => prop_assert!(wait <= policy.max),
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }
}

//! Whether a failed attempt is followed by another, and when.
//!
//! Full jitter: the wait is drawn evenly from 0 to the back-off, which spreads a herd best (Brooker,
//! "Exponential Backoff And Jitter", 2015). The random number is passed in, so this stays pure.

use super::outcome::AttemptOutcome;
use crate::time::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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

/// An end of an attempt after which a policy may ask for another.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum RetryOn {
    /// It failed by itself: a non-zero exit code, a signal of its own, an HTTP answer that is no success, or no start.
    Failure,
    /// It was killed over its execution cap.
    Cap,
    /// It was killed over its resources.
    Resources,
}

impl RetryOn {
    /// Every such end.
    pub const ALL: [Self; 3] = [Self::Failure, Self::Cap, Self::Resources];

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The ends of a policy that names none.
    #[must_use]
    pub fn usual() -> BTreeSet<Self> {
        BTreeSet::from([Self::Failure])
    }

    /// The end that this outcome is; `None` where no policy is asked.
    #[must_use]
    pub const fn of(outcome: AttemptOutcome) -> Option<Self> {
        match outcome {
            AttemptOutcome::Failed => Some(Self::Failure),
            AttemptOutcome::KilledCap => Some(Self::Cap),
            AttemptOutcome::KilledResources => Some(Self::Resources),
            AttemptOutcome::Succeeded
            | AttemptOutcome::Stopped
            | AttemptOutcome::Lost
            | AttemptOutcome::HandedBack
            | AttemptOutcome::NotStarted => None,
        }
    }
}

/// A text names no end of an attempt that may be retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected failure, cap or resources")]
pub struct ParseRetryOnError;

impl FromStr for RetryOn {
    type Err = ParseRetryOnError;

    fn from_str(text: &str) -> Result<Self, ParseRetryOnError> {
        Self::ALL.into_iter().find(|end| end.as_str() == text).ok_or(ParseRetryOnError)
    }
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
    /// Exit codes after which there is no other attempt: the task ends `aborted`. 128 + N also stands for an end by signal N.
    pub abort_on_exit_codes: Vec<i32>,
    /// The ends of an attempt after which there is another. Left out of what is stored where it is the usual one, so that a
    /// release that does not know the field reads such a policy.
    #[serde(skip_serializing_if = "is_usual")]
    pub on: BTreeSet<RetryOn>,
}

fn is_usual(on: &BTreeSet<RetryOn>) -> bool {
    on.iter().eq([&RetryOn::Failure])
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
            on: RetryOn::usual(),
        }
    }
}

/// What happens after a lost attempt.
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

/// What follows an attempt that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// Another attempt after this wait.
    After(Duration),
    /// It failed, and no other attempt comes: none is left, or the policy does not retry failures. The task ends `failed`.
    Exhausted,
    /// The exit code is on the policy's abort list. The task ends `aborted`.
    Abort,
    /// It was killed, and no other attempt comes. The task ends `killed`.
    Killed,
}

/// How an attempt ended that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptEnd {
    /// Which end.
    pub how: RetryOn,
    /// Where its process exited, or the status of an HTTP answer.
    pub exit_code: Option<i32>,
    /// Where a signal ended its process.
    pub signal: Option<i32>,
}

impl AttemptEnd {
    /// The exit code as shells show it: 128 + N where signal N ended the process.
    #[must_use]
    pub fn shell_code(self) -> Option<i32> {
        let signal = self.signal.filter(|signal| (1..=64).contains(signal));
        self.exit_code.or_else(|| signal.map(|signal| 128 + signal))
    }
}

/// Decides after an attempt that failed or was killed.
///
/// `failures` counts charged failures, this one included (1 upwards); `unit` is a random number in
/// 0.0..1.0, used when the policy asks for jitter. The abort list is for what failed by itself: an exit code that Berth's
/// own kill brought about says nothing of the task.
#[must_use]
pub fn decide_retry(
    policy: &RetryPolicy,
    failures: u32,
    max_attempts: u32,
    end: AttemptEnd,
    unit: f64,
) -> RetryDecision {
    let failed = end.how == RetryOn::Failure;
    let aborts = |code| policy.abort_on_exit_codes.contains(&code);
    if failed && end.shell_code().is_some_and(aborts) {
        return RetryDecision::Abort;
    }
    if failures >= max_attempts || !policy.on.contains(&end.how) {
        return if failed { RetryDecision::Exhausted } else { RetryDecision::Killed };
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

    const fn end(how: RetryOn, exit_code: Option<i32>, signal: Option<i32>) -> AttemptEnd {
        AttemptEnd { how, exit_code, signal }
    }

    const fn failed(exit_code: Option<i32>) -> AttemptEnd {
        end(RetryOn::Failure, exit_code, None)
    }

    #[test]
    fn an_exit_code_on_the_list_aborts_even_with_attempts_left() {
        let policy = RetryPolicy { abort_on_exit_codes: vec![2], ..RetryPolicy::default() };
        let decide = |code| decide_retry(&policy, 1, 9, failed(code), 0.5);
        assert_eq!(decide(Some(2)), RetryDecision::Abort);
        assert!(matches!(decide(Some(3)), RetryDecision::After(_)));
        assert!(matches!(decide(None), RetryDecision::After(_)));
    }

    #[test]
    fn an_end_by_a_signal_is_on_the_list_as_128_and_its_number() {
        let policy = RetryPolicy { abort_on_exit_codes: vec![139], ..RetryPolicy::default() };
        let decide =
            |signal| decide_retry(&policy, 1, 9, end(RetryOn::Failure, None, Some(signal)), 0.5);
        assert_eq!(decide(11), RetryDecision::Abort);
        assert!(matches!(decide(9), RetryDecision::After(_)));
        // A shell whose child died says so itself.
        assert_eq!(decide_retry(&policy, 1, 9, failed(Some(139)), 0.5), RetryDecision::Abort);
        // A number that could not be learnt is no signal.
        let policy = RetryPolicy { abort_on_exit_codes: vec![128], ..policy };
        let unknown = end(RetryOn::Failure, None, Some(0));
        assert!(matches!(decide_retry(&policy, 1, 9, unknown, 0.5), RetryDecision::After(_)));
    }

    #[test]
    fn the_list_says_nothing_of_what_berth_killed() {
        let policy = RetryPolicy {
            abort_on_exit_codes: vec![137, 143],
            on: BTreeSet::from(RetryOn::ALL),
            ..RetryPolicy::default()
        };
        for how in [RetryOn::Cap, RetryOn::Resources] {
            for end in [end(how, None, Some(9)), end(how, Some(143), None)] {
                assert!(matches!(decide_retry(&policy, 1, 2, end, 0.5), RetryDecision::After(_)));
                assert_eq!(decide_retry(&policy, 2, 2, end, 0.5), RetryDecision::Killed);
            }
        }
    }

    #[test]
    fn attempts_run_out_exactly_at_the_limit() {
        let policy = RetryPolicy::default();
        let decide = |failures| decide_retry(&policy, failures, 3, failed(Some(1)), 0.0);
        assert!(matches!(decide(2), RetryDecision::After(_)));
        assert_eq!(decide(3), RetryDecision::Exhausted);
    }

    #[test]
    fn only_the_ends_that_the_policy_names_are_tried_again() {
        let all = [
            BTreeSet::new(),
            RetryOn::usual(),
            BTreeSet::from([RetryOn::Cap]),
            BTreeSet::from(RetryOn::ALL),
        ];
        for on in all {
            let policy = RetryPolicy { on, ..RetryPolicy::default() };
            for how in RetryOn::ALL {
                let decision = decide_retry(&policy, 1, 9, end(how, None, None), 0.5);
                if policy.on.contains(&how) {
                    assert!(matches!(decision, RetryDecision::After(_)), "{how} of {policy:?}");
                } else if how == RetryOn::Failure {
                    assert_eq!(decision, RetryDecision::Exhausted);
                } else {
                    assert_eq!(decision, RetryDecision::Killed);
                }
                assert!(!matches!(
                    decide_retry(&policy, 9, 9, end(how, None, None), 0.5),
                    RetryDecision::After(_)
                ));
            }
        }
    }

    #[test]
    fn the_usual_ends_are_left_out_of_what_is_stored_and_others_read_back() {
        let usual = RetryPolicy::default();
        let json = serde_json::to_value(&usual).unwrap();
        assert_eq!(json.get("on"), None);
        assert_eq!(serde_json::from_value::<RetryPolicy>(json).unwrap(), usual);
        let other = RetryPolicy { on: BTreeSet::from([RetryOn::Resources, RetryOn::Cap]), ..usual };
        let json = serde_json::to_value(&other).unwrap();
        assert_eq!(json["on"], serde_json::json!(["cap", "resources"]));
        assert_eq!(serde_json::from_value::<RetryPolicy>(json).unwrap(), other);
        for end in RetryOn::ALL {
            assert_eq!(end.as_str().parse(), Ok(end));
        }
        assert_eq!("timeout".parse::<RetryOn>(), Err(ParseRetryOnError));
    }

    proptest! {
        #[test]
        fn a_wait_never_passes_max(failures in 1u32..10_000, factor in 1.0f64..100.0, unit in 0.0f64..1.0) {
            let policy = RetryPolicy { factor, ..RetryPolicy::default() };
            match decide_retry(&policy, failures, u32::MAX, failed(None), unit) {
                RetryDecision::After(wait) => prop_assert!(wait <= policy.max),
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }
}

//! Range checks that name the key, the value, the range and what to do.
//!
//! Each section's `check` is called once by `load`. Checks collect instead of stopping, so that all
//! problems are told at once.

use super::error::Problem;
use super::layers::Layers;
use domain::time::format_duration;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The problems found so far.
#[derive(Default)]
pub(super) struct Checks {
    found: Vec<(&'static str, String)>,
}

impl Checks {
    /// A whole number within `range`.
    pub(super) fn number<N>(&mut self, key: &'static str, value: N, range: RangeInclusive<N>)
    where
        N: PartialOrd + Display,
    {
        if !range.contains(&value) {
            let (low, high) = (range.start(), range.end());
            self.found.push((key, format!("is {value}; use a number from {low} to {high}")));
        }
    }

    /// A duration within `low` to `high`.
    pub(super) fn duration(
        &mut self,
        key: &'static str,
        value: Duration,
        range: RangeInclusive<Duration>,
    ) {
        if !range.contains(&value) {
            let [value, low, high] = [value, *range.start(), *range.end()].map(format_duration);
            self.found.push((key, format!("is \"{value}\"; use \"{low}\" to \"{high}\"")));
        }
    }

    /// Any other rule; `message` says what to do. It must not hold a secret's value.
    pub(super) fn rule(&mut self, key: &'static str, holds: bool, message: impl Into<String>) {
        if !holds {
            self.found.push((key, message.into()));
        }
    }

    /// What was found, with the origin of each value.
    pub(super) fn into_problems(self, layers: &Layers) -> Vec<Problem> {
        self.found.into_iter().map(|(key, message)| layers.problem(key, message)).collect()
    }
}

/// Milliseconds, for ranges.
pub(super) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Seconds, for ranges.
pub(super) const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Hours, for ranges.
pub(super) const fn hours(n: u64) -> Duration {
    Duration::from_secs(n * 3600)
}

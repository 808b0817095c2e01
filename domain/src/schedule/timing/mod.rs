//! The timing of a schedule, as given and stored.

mod check;
mod error;
mod exclusion;
mod spec;
mod words;

pub(in crate::schedule) use check::{SPAN, check_time};
pub use error::{TimingError, TimingProblem};
pub use exclusion::{Bound, Exclusion, ExclusionRange};
pub use spec::{Counting, Spec};
pub use words::{ClockTime, MonthDay, ParseWordError, Weekday, YearDay};

use crate::time::{Timestamp, text};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The timing of a schedule. The API returns it as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Due when any of these is due; equal times count once.
    pub specs: Vec<Spec>,
    /// IANA time zone of times of day and dates.
    #[serde(default = "utc")]
    pub zone: String,
    /// Earliest due time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<Timestamp>,
    /// Latest due time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_at: Option<Timestamp>,
    /// Finish after this many tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_fires: Option<u64>,
    /// Excluded times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<Exclusion>,
    /// Jitter of fires, deterministic per due time.
    #[serde(default, with = "text", skip_serializing_if = "Duration::is_zero")]
    pub jitter: Duration,
    /// Handling of a time of day that does not exist.
    #[serde(default)]
    pub gap: Gap,
    /// Handling of a time of day that occurs twice.
    #[serde(default)]
    pub repeat: Repeat,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// Handling of a time of day that does not exist (clocks go forward).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// It is due at the first instant after the gap; all of one gap together once.
    #[default]
    NextValid,
    /// Skipped on that day.
    Skip,
}

/// Handling of a time of day that occurs twice (clocks go back).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// It is due the first time.
    #[default]
    First,
    /// It is due the last time.
    Last,
    /// It is due each time.
    Both,
}

impl Timing {
    /// Specs of one schedule, at most.
    pub const MOST_SPECS: usize = 16;
    /// Exclusions of one schedule, at most.
    pub const MOST_EXCLUSIONS: usize = 500;
    /// The widest window of jitter.
    pub const MOST_JITTER: Duration = Duration::from_secs(24 * 3600);
    /// The shortest interval.
    pub const LEAST_EVERY: Duration = Duration::from_secs(1);
    /// The longest interval or delay: a hundred years of 365 days.
    pub const MOST_EVERY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

    /// The timing that has just `specs`, in UTC.
    #[must_use]
    pub fn of(specs: Vec<Spec>) -> Self {
        Self {
            specs,
            zone: utc(),
            start_at: None,
            end_at: None,
            max_fires: None,
            exclude: Vec::new(),
            jitter: Duration::ZERO,
            gap: Gap::default(),
            repeat: Repeat::default(),
        }
    }

    /// Whether it is due a fixed number of times only, by times and delays that are given one by one.
    #[must_use]
    pub fn is_one_shot(&self) -> bool {
        self.specs.iter().all(|spec| matches!(spec, Spec::At(_) | Spec::After(_)))
    }

    /// Whether the next due time counts from the end of the task before.
    #[must_use]
    pub fn is_fixed_delay(&self) -> bool {
        self.specs
            .iter()
            .any(|spec| matches!(spec, Spec::Every { counting: Counting::FixedDelay, .. }))
    }
}

#[cfg(test)]
mod tests;

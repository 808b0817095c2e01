//! One thing that makes a schedule due: a cron pattern, an interval, a fixed time, or words of the calendar.

use super::{ClockTime, MonthDay, Weekday, YearDay};
use crate::time::{Timestamp, text};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What makes a schedule due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Spec {
    /// A cron pattern of 5 fields, or of 6 with seconds first.
    Cron(String),
    /// Again and again after the same time, whatever the clocks of the zone do.
    Every {
        /// That time.
        #[serde(with = "text")]
        every: Duration,
        /// A due time, from which the others count; without it, the schedule's creation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anchor: Option<Timestamp>,
        /// What the time counts from.
        #[serde(default)]
        counting: Counting,
    },
    /// Once, at this time.
    At(Timestamp),
    /// Once, so long after the schedule's creation.
    #[serde(with = "text")]
    After(Duration),
    /// At these times each day.
    Daily {
        /// The times.
        at: Vec<ClockTime>,
    },
    /// At these times on these days of each week.
    Weekly {
        /// The days.
        on: Vec<Weekday>,
        /// The times.
        at: Vec<ClockTime>,
    },
    /// At these times on these days of each month; a month that lacks the day is left out.
    Monthly {
        /// The days.
        on: Vec<MonthDay>,
        /// The times.
        at: Vec<ClockTime>,
    },
    /// At these times on these days of each year; the 29th of February in leap years only.
    Yearly {
        /// The days.
        on: Vec<YearDay>,
        /// The times.
        at: Vec<ClockTime>,
    },
}

/// What an interval counts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// From one due time to the next, however long the tasks run.
    #[default]
    FixedRate,
    /// From the end of a task to the next due time.
    FixedDelay,
}

//! Computes due times from a timing.
//!
//! A zone's clock is walked from one change of its offset to the next: within such a stretch the clock on the wall and real time run
//! alike, so that what is found there is found in order. Only its two ends need the rules of gaps and repeats.

mod check;
mod civil;
mod closed;
mod cron;
mod days;
mod due;
mod grammar;
mod pattern;
mod preview;
mod reckoner;
mod rule;
mod rules;
mod span;
mod steps;
mod times;
mod walk;
mod zone;

pub use due::{DueTime, Marks};
pub use preview::{MOST_PREVIEWED, Previewed, preview};
pub use reckoner::Reckoner;
pub use rules::{is_same_meaning, rules_version, tzdb_of};
pub use steps::Steps;
pub use walk::Walk;
pub use zone::tzdb_release;

use super::timing::SPAN;
use crate::time::Timestamp;
use chrono::NaiveDate;

/// Microseconds of a second.
const MICROS: i64 = 1_000_000;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// The date of a second of civil time.
fn date_of(civil: i64) -> Option<NaiveDate> {
    // Day 1 is the 1st of January of the year 1.
    let day = i32::try_from(civil.div_euclid(DAY)).ok()?.checked_add(719_163)?;
    NaiveDate::from_num_days_from_ce_opt(day)
}

/// The first second of a date in civil time.
fn midnight_of(date: NaiveDate) -> i64 {
    date.and_time(chrono::NaiveTime::MIN).and_utc().timestamp()
}

/// Seconds of an instant.
fn second_of(micros: i64) -> i64 {
    micros.div_euclid(MICROS)
}

/// A time of the database's precision.
fn from_micros(micros: i64) -> Option<Timestamp> {
    SPAN.contains(&micros.div_euclid(MICROS)).then(|| Timestamp::from_timestamp_micros(micros))?
}

#[cfg(test)]
mod civil_tests;
#[cfg(test)]
mod tests;

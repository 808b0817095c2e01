//! Computes due times from a timing.
//!
//! A zone's clock is walked from one change of its offset to the next: within such a stretch the clock on the wall and real time run
//! alike, so that what is found there is found in order. Only its two ends need the rules of gaps and repeats.

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
mod steps;
mod times;
mod walk;
mod zone;

pub(in crate::schedule) use cron::recurs;
pub use due::{DueTime, Marks};
pub(in crate::schedule) use grammar::check as check_cron;
pub use preview::{MOST_PREVIEWED, Previewed, preview};
pub use reckoner::Reckoner;
pub(in crate::schedule) use rule::check_time;
pub use rules::{is_same_meaning, rules_version, tzdb_of};
pub use steps::Steps;
pub use walk::Walk;
pub use zone::tzdb_release;

use crate::time::Timestamp;
use chrono::NaiveDate;

/// Microseconds of a second.
const MICROS: i64 = 1_000_000;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// The first and last second at which anything is due: the years 1 to 9000.
pub(in crate::schedule) const SPAN: std::ops::RangeInclusive<i64> =
    -62_135_596_800..=221_876_927_999;

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

/// A time of the database's precision.
fn from_micros(micros: i64) -> Option<Timestamp> {
    SPAN.contains(&micros.div_euclid(MICROS)).then(|| Timestamp::from_timestamp_micros(micros))?
}

#[cfg(test)]
mod civil_tests;
#[cfg(test)]
mod tests;

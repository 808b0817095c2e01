//! The days on which something is due.

use super::steps::Steps;
use crate::schedule::{MonthDay, Weekday, YearDay};
use chrono::{Datelike, Days as Count, NaiveDate};
use croner::CronPattern;

/// Days of the calendar. Which of a year they are depends only on its length and on the weekday on which it begins.
#[derive(Debug, Clone)]
pub(super) enum Days {
    /// Each.
    All,
    /// Those of a cron pattern.
    Cron(Box<CronPattern>),
    /// Of each week; bit 0 is Monday.
    Week(u8),
    /// Of each month.
    Month {
        /// Bit n is the nth.
        days: u32,
        /// The last too.
        last: bool,
    },
    /// Of each year: for each month, bit n is the nth.
    Year([u32; 12]),
}

/// Such a day comes within this many years, or never: a 29th of February on a certain weekday can be 40 years away.
const FURTHEST_YEARS: i32 = 50;

impl Days {
    pub fn of_week(days: &[Weekday]) -> Self {
        Self::Week(days.iter().fold(0, |bits, day| bits | 1 << *day as u8))
    }

    pub fn of_month(days: &[MonthDay]) -> Self {
        let bit = |day: &MonthDay| match day {
            MonthDay::Day(day) => 1_u32 << day,
            MonthDay::Last => 0,
        };
        let last = days.contains(&MonthDay::Last);
        Self::Month { days: days.iter().map(bit).fold(0, |all, bit| all | bit), last }
    }

    pub fn of_year(days: &[YearDay]) -> Self {
        let mut months = [0; 12];
        for day in days {
            months[usize::from(day.month()) - 1] |= 1 << day.day();
        }
        Self::Year(months)
    }

    fn has_month(&self, month: u32) -> bool {
        match self {
            Self::All | Self::Week(_) | Self::Month { .. } => true,
            Self::Cron(pattern) => pattern.month_match(month).unwrap_or(false),
            Self::Year(months) => months.get(month as usize - 1).is_some_and(|days| *days != 0),
        }
    }

    /// Whether `date` is one of them, its month being one of theirs.
    fn has_day(&self, date: NaiveDate) -> bool {
        match self {
            Self::All => true,
            Self::Cron(pattern) => pattern
                .day_match(date.year(), date.month(), date.day(), croner_weekday(date.weekday()))
                .unwrap_or(false),
            Self::Week(days) => days >> date.weekday().num_days_from_monday() & 1 == 1,
            Self::Month { days, last } => {
                days >> date.day() & 1 == 1
                    || *last && date.succ_opt().is_none_or(|next| next.day() == 1)
            }
            Self::Year(months) => months[date.month0() as usize] >> date.day() & 1 == 1,
        }
    }

    /// The first of them that is `from` or later; nothing where none ever comes, or `steps` are out.
    pub fn first_from(&self, from: NaiveDate, steps: &Steps) -> Option<NaiveDate> {
        let mut date = from;
        while date.year() - from.year() <= FURTHEST_YEARS {
            steps.take(1)?;
            if !self.has_month(date.month()) {
                date = date.with_day(1)?.checked_add_months(chrono::Months::new(1))?;
            } else if self.has_day(date) {
                return Some(date);
            } else {
                date = date.checked_add_days(Count::new(1))?;
            }
        }
        None
    }
}

fn croner_weekday(day: chrono::Weekday) -> croner::Weekday {
    match day {
        chrono::Weekday::Mon => croner::Weekday::Monday,
        chrono::Weekday::Tue => croner::Weekday::Tuesday,
        chrono::Weekday::Wed => croner::Weekday::Wednesday,
        chrono::Weekday::Thu => croner::Weekday::Thursday,
        chrono::Weekday::Fri => croner::Weekday::Friday,
        chrono::Weekday::Sat => croner::Weekday::Saturday,
        chrono::Weekday::Sun => croner::Weekday::Sunday,
    }
}

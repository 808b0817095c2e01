//! The words of the calendar: a time of day, a day of the week, of the month, of the year.
//!
//! Each is written as people write it (`"09:30"`, `"monday"`, `31` or `"last"`, `"02-29"`), and nothing that is not one of them
//! can be made.

use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Why a text is no word of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseWordError {
    /// No time of day.
    #[error("expected a time of day such as \"09:30\" or \"23:59:59\"")]
    ClockTime,
    /// No day of a week.
    #[error("expected a day from \"monday\" to \"sunday\"")]
    Weekday,
    /// No day of a month.
    #[error("expected a day of the month from 1 to 31, or \"last\"")]
    MonthDay,
    /// No day of a year.
    #[error("expected a month and day such as \"12-24\" or \"02-29\"")]
    YearDay,
}

/// A time of day, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClockTime(u32);

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is the day of its name")]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

/// A day of the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "MonthDayForm", into = "MonthDayForm")]
pub enum MonthDay {
    /// The 1st to the 31st.
    Day(u8),
    /// The last.
    Last,
}

/// A day of the year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct YearDay {
    month: u8,
    day: u8,
}

impl ClockTime {
    /// The time so many seconds after midnight; `None` beyond the day.
    #[must_use]
    pub const fn new(second_of_day: u32) -> Option<Self> {
        if second_of_day < 86_400 { Some(Self(second_of_day)) } else { None }
    }

    /// Seconds since midnight, by the clock.
    #[must_use]
    pub const fn second_of_day(self) -> u32 {
        self.0
    }
}

impl YearDay {
    /// The day, `None` where no year has it.
    #[must_use]
    pub fn new(month: u8, day: u8) -> Option<Self> {
        // A leap year has every day.
        chrono::NaiveDate::from_ymd_opt(2000, month.into(), day.into())?;
        Some(Self { month, day })
    }

    /// 1 to 12.
    #[must_use]
    pub const fn month(self) -> u8 {
        self.month
    }

    /// 1 to 31.
    #[must_use]
    pub const fn day(self) -> u8 {
        self.day
    }
}

/// Reads exactly two digits.
fn two_digits(text: &str) -> Option<u8> {
    (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

impl FromStr for ClockTime {
    type Err = ParseWordError;

    fn from_str(text: &str) -> Result<Self, ParseWordError> {
        let read = || {
            let mut parts = text.split(':').map(two_digits);
            let (hour, minute) = (parts.next()??, parts.next()??);
            let second = parts.next().unwrap_or(Some(0))?;
            let fits = hour < 24 && minute < 60 && second < 60 && parts.next().is_none();
            fits.then(|| Self(u32::from(hour) * 3600 + u32::from(minute) * 60 + u32::from(second)))
        };
        read().ok_or(ParseWordError::ClockTime)
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 3600, self.0 / 60 % 60)?;
        if self.0.is_multiple_of(60) { Ok(()) } else { write!(f, ":{:02}", self.0 % 60) }
    }
}

impl FromStr for Weekday {
    type Err = ParseWordError;

    fn from_str(text: &str) -> Result<Self, ParseWordError> {
        let word: StrDeserializer<'_, Error> = text.into_deserializer();
        Self::deserialize(word).map_err(|_| ParseWordError::Weekday)
    }
}

impl FromStr for YearDay {
    type Err = ParseWordError;

    fn from_str(text: &str) -> Result<Self, ParseWordError> {
        text.split_once('-')
            .and_then(|(month, day)| Self::new(two_digits(month)?, two_digits(day)?))
            .ok_or(ParseWordError::YearDay)
    }
}

impl fmt::Display for YearDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}-{:02}", self.month, self.day)
    }
}

macro_rules! by_text {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = ParseWordError;

            fn try_from(text: String) -> Result<Self, ParseWordError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.to_string()
            }
        }
    };
}

by_text!(ClockTime);
by_text!(YearDay);

/// A day of the month as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a day of the month from 1 to 31, or \"last\"")]
enum MonthDayForm {
    Day(u8),
    Word(String),
}

impl TryFrom<MonthDayForm> for MonthDay {
    type Error = ParseWordError;

    fn try_from(form: MonthDayForm) -> Result<Self, ParseWordError> {
        match form {
            MonthDayForm::Day(day @ 1..=31) => Ok(Self::Day(day)),
            MonthDayForm::Word(word) if word == "last" => Ok(Self::Last),
            MonthDayForm::Day(_) | MonthDayForm::Word(_) => Err(ParseWordError::MonthDay),
        }
    }
}

impl From<MonthDay> for MonthDayForm {
    fn from(day: MonthDay) -> Self {
        match day {
            MonthDay::Day(day) => Self::Day(day),
            MonthDay::Last => Self::Word("last".to_owned()),
        }
    }
}

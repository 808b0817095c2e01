//! Why a timing is refused: where in it, and what to do.

use super::Timing;
use crate::time::format_duration;
use std::fmt;

/// A timing is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct TimingError {
    /// Where in the timing, as a JSON pointer: `/specs/0/cron`; empty where it is the whole.
    pub pointer: String,
    /// What is wrong, and what to do.
    pub problem: TimingProblem,
}

/// What is wrong with a timing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimingProblem {
    /// It will never be due.
    NeverFires,
    /// When it is due first cannot be found with a bearable amount of work.
    TooIntricate,
    /// No time zone of this name is known.
    UnknownZone(String),
    /// The text is no cron pattern, or has a part that does not mean just one thing.
    BadCron(String),
    /// Too few or too many of something.
    Count {
        /// At least.
        least: usize,
        /// At most.
        most: usize,
    },
    /// An interval or delay is too short or too long.
    Every,
    /// A jitter is too long.
    Jitter,
    /// Something ends before it begins.
    EndsBeforeStart,
    /// A number of fires is 0.
    NoFires,
    /// A fixed delay stands beside other specs.
    FixedDelayNotAlone,
    /// A date that does not exist.
    NoSuchDate,
    /// A choice for clock changes, of a timing without fixed times of day.
    NoTimeOfDay,
    /// A time that this calendar cannot hold.
    OutOfRange,
}

impl fmt::Display for TimingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverFires => f.write_str(
                "is never due: no such date or time comes after its creation and start, before its end and outside of what it excludes; change one of them",
            ),
            Self::TooIntricate => f.write_str(
                "is due so rarely, or leaves out so much, that its due times take too long to find; take fewer or simpler specs and exclusions",
            ),
            Self::UnknownZone(zone) => write!(
                f,
                "names no known time zone: `{zone}`; give an IANA name such as `UTC`, `Europe/Berlin` or `America/New_York`"
            ),
            Self::BadCron(why) => write!(f, "is no cron pattern: {why}"),
            Self::Count { least, most } => write!(f, "must have {least} to {most} entries"),
            Self::Every => write!(
                f,
                "must be {} to {}",
                format_duration(Timing::LEAST_EVERY),
                format_duration(Timing::MOST_EVERY)
            ),
            Self::Jitter => {
                write!(f, "must be at most {}", format_duration(Timing::MOST_JITTER))
            }
            Self::EndsBeforeStart => f.write_str("must end after it begins"),
            Self::NoFires => f.write_str("must be 1 or more; leave it out for no limit"),
            Self::FixedDelayNotAlone => f.write_str(
                "counts from the end of a task and must be the only spec; use fixed_rate, or a schedule of its own",
            ),
            Self::NoSuchDate => f.write_str("is no date of the calendar"),
            Self::NoTimeOfDay => f.write_str(
                "acts on fixed times of day only, and this timing has none: intervals, and patterns whose minute or hour field begins with `*`, are due whenever the clock shows their time; leave it out",
            ),
            Self::OutOfRange => f.write_str("must be a time of the years 1 to 9000"),
        }
    }
}

impl TimingError {
    pub(in crate::schedule) fn at(pointer: impl Into<String>, problem: TimingProblem) -> Self {
        Self { pointer: pointer.into(), problem }
    }
}

//! Times of day on days: what a clock shows when something is due.

use super::days::Days;
use super::steps::Steps;
use super::times::Times;
use super::{DAY, date_of, midnight_of};

/// What the clock on the wall shows when something is due.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub times: Times,
    pub days: Days,
    /// It is due whenever the clock shows its time, also where clocks change: what is meant is an interval. Else it is a fixed time
    /// of day.
    pub recurs: bool,
}

impl Pattern {
    /// The first civil time that is `from` or later, in seconds; nothing where none ever comes, or `steps` are out.
    pub fn first_from(&self, from: i64, steps: &Steps) -> Option<i64> {
        let today = date_of(from)?;
        let second = u32::try_from(from.rem_euclid(DAY)).ok()?;
        let mut day = self.days.first_from(today, steps)?;
        if day == today {
            if let Some(time) = self.times.first_from(second) {
                return Some(midnight_of(day) + i64::from(time));
            }
            day = self.days.first_from(today.succ_opt()?, steps)?;
        }
        Some(midnight_of(day) + i64::from(self.times.first_from(0)?))
    }
}

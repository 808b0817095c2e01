//! What can be said of a timing before any due time is reckoned.

use super::{Bound, Exclusion, Timing, TimingError, TimingProblem};
use crate::schedule::reckon::{Reckoner, check_time};
use crate::time::Timestamp;

impl Timing {
    /// Checks all that does not depend on when the schedule is created.
    ///
    /// # Errors
    /// The first thing that is wrong, and where.
    pub fn check(&self) -> Result<(), TimingError> {
        self.check_but_specs()?;
        Reckoner::read(self, Timestamp::UNIX_EPOCH).map(drop)
    }

    /// The same, but for what reading the specs and the zone tells.
    pub(in crate::schedule) fn check_but_specs(&self) -> Result<(), TimingError> {
        let refuse = |pointer: &str, problem| Err(TimingError::at(pointer, problem));
        let count = |least, most| TimingProblem::Count { least, most };
        if !(1..=Self::MOST_SPECS).contains(&self.specs.len()) {
            return refuse("/specs", count(1, Self::MOST_SPECS));
        }
        if self.is_fixed_delay() && self.specs.len() > 1 {
            return refuse("/specs", TimingProblem::FixedDelayNotAlone);
        }
        if self.exclude.len() > Self::MOST_EXCLUSIONS {
            return refuse("/exclude", count(0, Self::MOST_EXCLUSIONS));
        }
        if self.jitter > Self::MOST_JITTER {
            return refuse("/jitter", TimingProblem::Jitter);
        }
        if self.max_fires == Some(0) {
            return refuse("/max_fires", TimingProblem::NoFires);
        }
        let start = check_time(self.start_at, "/start_at")?;
        let end = check_time(self.end_at, "/end_at")?;
        if start.zip(end).is_some_and(|(start, end)| end < start) {
            return refuse("/end_at", TimingProblem::EndsBeforeStart);
        }
        let reversed = |exclusion: &Exclusion| match exclusion {
            Exclusion::Day(_) => false,
            Exclusion::Range(range) => match (range.from, range.to) {
                (Bound::Day(from), Bound::Day(to)) => to < from,
                (Bound::Instant(from), Bound::Instant(to)) => to <= from,
                // A day of a zone has no fixed instant: such a pair may be empty.
                (Bound::Day(_), Bound::Instant(_)) | (Bound::Instant(_), Bound::Day(_)) => false,
            },
        };
        match self.exclude.iter().position(reversed) {
            Some(index) => refuse(&format!("/exclude/{index}/to"), TimingProblem::EndsBeforeStart),
            None => Ok(()),
        }
    }
}

//! What can be said of a timing without reading its specs and its zone.

use super::{Bound, Exclusion, Timing, TimingError, TimingProblem};
use crate::time::Timestamp;

/// The first and last second at which anything is due: the years 1 to 9000.
pub(in crate::schedule) const SPAN: std::ops::RangeInclusive<i64> =
    -62_135_596_800..=221_876_927_999;

impl Timing {
    /// Checks all but the specs and the zone.
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

/// A time in microseconds that the calendar holds.
pub(in crate::schedule) fn check_time(
    at: Option<Timestamp>,
    pointer: &str,
) -> Result<Option<i64>, TimingError> {
    let Some(at) = at else { return Ok(None) };
    if SPAN.contains(&at.timestamp()) {
        Ok(Some(at.timestamp_micros()))
    } else {
        Err(TimingError::at(pointer, TimingProblem::OutOfRange))
    }
}

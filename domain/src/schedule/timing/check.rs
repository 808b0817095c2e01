//! What can be said of a timing before any due time is reckoned.

use super::{Bound, Exclusion, Gap, Repeat, Spec, Timing, TimingError, TimingProblem};
use crate::schedule::reckon::{Reckoner, check_cron, check_time, recurs};
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

    /// What a new timing may not have, though a stored one is read with it: a cron pattern with a part that does not mean just one
    /// thing, and a choice for clock changes that acts on nothing. The defaults of `gap` and `repeat` are no choice.
    #[must_use]
    pub fn check_new(&self) -> Vec<TimingError> {
        let patterns = self.specs.iter().enumerate().filter_map(|(index, spec)| match spec {
            Spec::Cron(text) => {
                let why = check_cron(text).err()?;
                Some(TimingError::at(format!("/specs/{index}/cron"), TimingProblem::BadCron(why)))
            }
            _ => None,
        });
        let mut errors: Vec<_> = patterns.collect();
        if !self.specs.iter().any(may_have_time_of_day) {
            let choices = [
                ("/gap", self.gap != Gap::default()),
                ("/repeat", self.repeat != Repeat::default()),
            ];
            let chosen = choices.into_iter().filter(|(_, chosen)| *chosen);
            errors.extend(chosen.map(|(at, _)| TimingError::at(at, TimingProblem::NoTimeOfDay)));
        }
        errors
    }

    /// As [`Self::check`], but for what reading the specs and the zone tells.
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

/// Whether `spec` has fixed times of day, or cannot be read.
fn may_have_time_of_day(spec: &Spec) -> bool {
    match spec {
        Spec::Cron(text) => !recurs(text),
        Spec::Daily { .. } | Spec::Weekly { .. } | Spec::Monthly { .. } | Spec::Yearly { .. } => {
            true
        }
        Spec::Every { .. } | Spec::At(_) | Spec::After(_) => false,
    }
}

//! What can be said of a timing before any due time is reckoned.

use super::cron::recurs;
use super::grammar::check as check_cron;
use super::reckoner::Reckoner;
use crate::schedule::{Gap, Repeat, Spec, Timing, TimingError, TimingProblem};
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

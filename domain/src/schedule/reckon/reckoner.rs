//! Computes the due times of one parsed timing.

use super::closed::Closed;
use super::rule::Rule;
use super::steps::Steps;
use super::zone::Zone;
use super::{DueTime, from_micros};
use crate::schedule::{Counting, Spec, Timing, TimingError, TimingProblem};
use crate::time::Timestamp;
use std::time::Duration;

/// Ends of exclusions that are looked at for a time that is not excluded.
const MOST_TRIES: usize = 10_000;

/// A parsed timing.
#[derive(Debug, Clone)]
pub struct Reckoner {
    pub(super) zone: Zone,
    pub(super) rules: Vec<Rule>,
    pub(super) closed: Closed,
    /// In microseconds, as all here.
    pub(super) start: i64,
    pub(super) end: i64,
    /// From the end of one task to the next due time.
    pub(super) delay: Option<i64>,
    jitter: Duration,
    max_fires: Option<u64>,
}

impl Reckoner {
    /// Reads `timing` of a schedule that is created at `created_at`.
    ///
    /// # Errors
    /// What is wrong with it; also that it is never due after its creation.
    pub fn new(timing: &Timing, created_at: Timestamp) -> Result<Self, TimingError> {
        Self::within(timing, created_at, &Steps::unlimited())
    }

    /// Reads `timing`, which was checked when it was stored: no due time is looked for.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn stored(timing: &Timing, created_at: Timestamp) -> Result<Self, TimingError> {
        timing.check_but_specs()?;
        Self::read(timing, created_at)
    }

    /// The same as [`Self::new`] of a timing that somebody gives, who may want to keep a processor busy.
    ///
    /// # Errors
    /// As [`Self::new`]; that its first due time is not found within `steps`.
    pub fn within(
        timing: &Timing,
        created_at: Timestamp,
        steps: &Steps,
    ) -> Result<Self, TimingError> {
        let reckoner = Self::stored(timing, created_at)?;
        if reckoner.walk().next_after(created_at, steps).is_none() {
            let problem = match steps.is_out() {
                true => TimingError::at("", TimingProblem::TooIntricate),
                false => TimingError::at(reckoner.never_pointer(), TimingProblem::NeverFires),
            };
            return Err(problem);
        }
        Ok(reckoner)
    }

    /// Reads what was checked.
    pub(in crate::schedule) fn read(
        timing: &Timing,
        created_at: Timestamp,
    ) -> Result<Self, TimingError> {
        let unknown = || TimingProblem::UnknownZone(timing.zone.clone());
        let delay = timing.specs.iter().find_map(|spec| match spec {
            Spec::Every { every, counting: Counting::FixedDelay, .. } => {
                i64::try_from(every.as_micros()).ok()
            }
            _ => None,
        });
        let rule = |index| Rule::read(timing, index, created_at);
        Ok(Self {
            zone: Zone::named(&timing.zone).ok_or_else(|| TimingError::at("/zone", unknown()))?,
            rules: (0..timing.specs.len()).map(rule).collect::<Result<_, _>>()?,
            closed: Closed::of(&timing.exclude),
            start: timing.start_at.map_or(i64::MIN, |at| at.timestamp_micros()),
            end: timing.end_at.map_or(i64::MAX, |at| at.timestamp_micros()),
            delay,
            jitter: timing.jitter,
            max_fires: timing.max_fires,
        })
    }

    /// The first due time strictly after `after`. With a fixed delay only the first of all, which is moved to where the timing starts
    /// and out of what it excludes: each other is told by [`Self::after_end`].
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<DueTime> {
        self.next_within(after, &Steps::unlimited())
    }

    /// The same, as far as `steps` go.
    #[must_use]
    pub fn next_within(&self, after: Timestamp, steps: &Steps) -> Option<DueTime> {
        self.walk().next_after(after, steps)
    }

    /// With a fixed delay, the first of all.
    pub(super) fn first_delayed(&self) -> Option<DueTime> {
        let steps = Steps::unlimited();
        let first =
            self.rules.iter().filter_map(|rule| rule.next_after(&self.zone, i64::MIN, &steps));
        self.open_from(first.map(|due| due.at).min()?)
    }

    /// With a fixed delay, the due time that follows a task which ended at `ended`: where that is excluded, the first time that is
    /// not.
    #[must_use]
    pub fn after_end(&self, ended: Timestamp) -> Option<DueTime> {
        self.open_from(ended.timestamp_micros().saturating_add(self.delay?))
    }

    /// The first instant from `at` on that is not before the start, after the end or excluded.
    fn open_from(&self, at: i64) -> Option<DueTime> {
        let mut at = at.max(self.start);
        for _ in 0..MOST_TRIES {
            let time = from_micros(at).filter(|_| at <= self.end)?;
            match self.closed.until(&self.zone, at) {
                Some(until) => at = until,
                None => return Some(DueTime { at: time, marks: self.zone.marks(at, false) }),
            }
        }
        None
    }

    /// Whether due times follow the ends of tasks.
    #[must_use]
    pub const fn is_fixed_delay(&self) -> bool {
        self.delay.is_some()
    }

    /// The window in which each fire waits a part.
    #[must_use]
    pub const fn jitter(&self) -> Duration {
        self.jitter
    }

    /// Number of tasks after which it is finished.
    #[must_use]
    pub const fn max_fires(&self) -> Option<u64> {
        self.max_fires
    }

    /// Names the spec that no calendar has, where there is one.
    fn never_pointer(&self) -> String {
        match self.rules.iter().position(Rule::is_dead) {
            Some(index) => format!("/specs/{index}"),
            None => String::new(),
        }
    }
}

//! Schedules as they were read: parsed once a version, as long as they fire now and then.

use domain::id::ScheduleId;
use domain::schedule::{Misfire, Reckoner, TaskTemplate, Timing};
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::fire::Facts;

/// Versions that were asked for within one age, at most; then a new age begins.
const MOST: usize = 10_000;
/// What was not asked for within one age is forgotten with the next: so what is deleted goes, and so does what fires rarely, of which
/// reading it anew is little.
const AGE: Duration = Duration::from_secs(60);

/// One version of a schedule.
#[derive(Debug)]
pub(super) struct Parsed {
    version: i64,
    pub reckoner: Reckoner,
    pub template: Arc<TaskTemplate>,
    pub misfire: Misfire,
}

#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Ages<Arc<Parsed>>>);

#[derive(Debug)]
struct Ages<T> {
    /// Asked for in this age, and in the one before and not since.
    now: HashMap<ScheduleId, T>,
    before: HashMap<ScheduleId, T>,
    began: Option<Instant>,
}

impl<T> Default for Ages<T> {
    fn default() -> Self {
        Self { now: HashMap::new(), before: HashMap::new(), began: None }
    }
}

impl<T: Clone> Ages<T> {
    fn get(&mut self, id: ScheduleId, now: Instant) -> Option<T> {
        let known = self.before.remove(&id).or_else(|| self.now.get(&id).cloned())?;
        self.keep(id, known.clone(), now);
        Some(known)
    }

    fn keep(&mut self, id: ScheduleId, parsed: T, now: Instant) {
        let began = *self.began.get_or_insert(now);
        if self.now.len() >= MOST || now.saturating_duration_since(began) >= AGE {
            self.before = std::mem::take(&mut self.now);
            self.began = Some(now);
        }
        self.now.insert(id, parsed);
    }
}

impl Known {
    /// The schedule of `facts`, read.
    pub(super) fn parsed(&self, facts: &Facts) -> Result<Arc<Parsed>, StoreError> {
        let (id, now) = (facts.due.schedule, monotonic());
        let mut known = self.0.lock();
        if let Some(parsed) = known.get(id, now).filter(|parsed| parsed.version == facts.version) {
            return Ok(parsed);
        }
        let parsed = Arc::new(Parsed::of(facts)?);
        known.keep(id, Arc::clone(&parsed), now);
        Ok(parsed)
    }
}

impl Parsed {
    fn of(facts: &Facts) -> Result<Self, StoreError> {
        let id = facts.due.schedule;
        let timing: Timing = store::schedule::read_json("timing", id, &facts.timing)?;
        let reckoner = store::schedule::reckoner(id, &timing, facts.created_at)?;
        Ok(Self {
            version: facts.version,
            reckoner,
            template: Arc::new(store::schedule::read_json("template", id, &facts.template)?),
            misfire: store::schedule::read_json("misfire", id, &facts.misfire)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_all_else_is_forgotten_within_two_ages() {
        let (asked_for, other) = (ScheduleId::fresh(), ScheduleId::fresh());
        let (mut ages, began) = (Ages::default(), monotonic());
        ages.keep(asked_for, 1, began);
        ages.keep(other, 2, began);
        for age in 1..3 {
            assert_eq!(ages.get(asked_for, began + AGE * age), Some(1));
        }
        assert_eq!(ages.get(other, began + AGE * 2), None);
    }

    #[test]
    fn no_more_are_kept_than_two_ages_may_hold() {
        let (mut ages, now) = (Ages::default(), monotonic());
        for _ in 0..5 * MOST {
            ages.keep(ScheduleId::fresh(), (), now);
        }
        assert!(ages.now.len() + ages.before.len() <= 2 * MOST);
    }
}

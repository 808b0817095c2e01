//! A cache of parsed schedules, by version.

use domain::id::ScheduleId;
use domain::schedule::{FireTemplate, Misfire, Reckoner, Timing};
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::fire::Facts;

/// Entries per generation; then a new one begins.
const MAX_ENTRIES: usize = 10_000;
/// Length of a generation. An entry that is unused for a whole generation is dropped: so deleted and rarely firing
/// schedules leave the cache.
const GENERATION: Duration = Duration::from_secs(60);

/// One version of a schedule.
#[derive(Debug)]
pub(super) struct Parsed {
    version: i64,
    pub reckoner: Reckoner,
    pub template: Arc<FireTemplate>,
    pub misfire: Misfire,
}

#[derive(Debug, Default)]
pub(super) struct ParsedCache(Mutex<Generations<Arc<Parsed>>>);

#[derive(Debug)]
struct Generations<T> {
    /// Used in this generation; `previous`: used only in the one before.
    current: HashMap<ScheduleId, T>,
    previous: HashMap<ScheduleId, T>,
    began: Option<Instant>,
}

impl<T> Default for Generations<T> {
    fn default() -> Self {
        Self { current: HashMap::new(), previous: HashMap::new(), began: None }
    }
}

impl<T: Clone> Generations<T> {
    fn get(&mut self, id: ScheduleId, now: Instant) -> Option<T> {
        let cached = self.previous.remove(&id).or_else(|| self.current.get(&id).cloned())?;
        self.insert(id, cached.clone(), now);
        Some(cached)
    }

    fn insert(&mut self, id: ScheduleId, parsed: T, now: Instant) {
        let began = *self.began.get_or_insert(now);
        if self.current.len() >= MAX_ENTRIES || now.saturating_duration_since(began) >= GENERATION {
            self.previous = std::mem::take(&mut self.current);
            self.began = Some(now);
        }
        self.current.insert(id, parsed);
    }
}

impl ParsedCache {
    /// The parsed schedule of `facts`.
    pub(super) fn get(&self, facts: &Facts) -> Result<Arc<Parsed>, StoreError> {
        let (id, now) = (facts.due.schedule, monotonic());
        let mut cached = self.0.lock();
        if let Some(parsed) = cached.get(id, now).filter(|parsed| parsed.version == facts.version) {
            return Ok(parsed);
        }
        let parsed = Arc::new(Parsed::of(facts)?);
        cached.insert(id, Arc::clone(&parsed), now);
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
            template: Arc::new(store::schedule::read_template(id, &facts.template)?),
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
        let (mut generations, began) = (Generations::default(), monotonic());
        generations.insert(asked_for, 1, began);
        generations.insert(other, 2, began);
        for age in 1..3 {
            assert_eq!(generations.get(asked_for, began + GENERATION * age), Some(1));
        }
        assert_eq!(generations.get(other, began + GENERATION * 2), None);
    }

    #[test]
    fn no_more_are_kept_than_two_ages_may_hold() {
        let (mut generations, now) = (Generations::default(), monotonic());
        for _ in 0..5 * MAX_ENTRIES {
            generations.insert(ScheduleId::fresh(), (), now);
        }
        assert!(generations.current.len() + generations.previous.len() <= 2 * MAX_ENTRIES);
    }
}

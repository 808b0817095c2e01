//! Schedules as they were read: parsed once a version.

use domain::id::ScheduleId;
use domain::schedule::{Misfire, Reckoner, TaskTemplate, Timing};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use store::StoreError;
use store::fire::Facts;

/// Versions kept, at most; then all are forgotten, and those that fire are read again.
const MOST: usize = 20_000;

/// One version of a schedule.
#[derive(Debug)]
pub(super) struct Parsed {
    version: i64,
    pub timing: Timing,
    pub reckoner: Reckoner,
    pub template: Arc<TaskTemplate>,
    pub misfire: Misfire,
}

#[derive(Debug, Default)]
pub(super) struct Known(Mutex<HashMap<ScheduleId, Arc<Parsed>>>);

impl Known {
    /// The schedule of `facts`, read.
    pub(super) fn parsed(&self, facts: &Facts) -> Result<Arc<Parsed>, StoreError> {
        let id = facts.due.schedule;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parsed) = known.get(&id).filter(|parsed| parsed.version == facts.version) {
            return Ok(Arc::clone(parsed));
        }
        let parsed = Arc::new(Parsed::of(facts)?);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(id, Arc::clone(&parsed));
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
            timing,
            template: Arc::new(store::schedule::read_json("template", id, &facts.template)?),
            misfire: store::schedule::read_json("misfire", id, &facts.misfire)?,
        })
    }
}

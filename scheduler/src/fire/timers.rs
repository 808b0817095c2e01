//! Due times held in memory: a cache of what is in the database, and no more.
//!
//! One timer a schedule. What is being written is remembered until a later look at the database has begun, so that a look which
//! began before is not taken for news.

use super::counted::TIMERS;
use domain::id::ScheduleId;
use domain::time::Timestamp;
use domain::wheel::{Timer, Wheel};
use std::collections::{BTreeSet, HashMap};
use store::fire::Due;

#[derive(Debug)]
pub(crate) struct Timers {
    wheel: Wheel<ScheduleId>,
    begun: bool,
    set: HashMap<ScheduleId, (Timer, Due)>,
    /// Due times that are being written.
    writing: HashMap<ScheduleId, Timestamp>,
    /// Those that were written since the present look began.
    written: HashMap<ScheduleId, Timestamp>,
}

impl Timers {
    pub(crate) fn new() -> Self {
        Self {
            wheel: Wheel::new(Timestamp::UNIX_EPOCH),
            begun: false,
            set: HashMap::new(),
            writing: HashMap::new(),
            written: HashMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.set.len()
    }

    /// A look at the database begins, at `now` by its clock: what was written before is in it.
    pub(super) fn look_begins(&mut self, now: Timestamp) {
        self.written.clear();
        // Only the database's clock counts, and it had not been asked when this was made.
        if !self.begun {
            (self.wheel, self.begun) = (Wheel::new(now), true);
        }
    }

    /// What a look has found. True where something is to be fired sooner than what was first before.
    pub(super) fn found(&mut self, due: &[Due]) -> bool {
        let before = self.wheel.next_due();
        for due in due {
            let is_old = |known: Option<&Timestamp>| known.is_some_and(|at| *at == due.due_at);
            if !is_old(self.writing.get(&due.schedule)) && !is_old(self.written.get(&due.schedule))
            {
                self.set(*due);
            }
        }
        TIMERS.set(self.set.len() as f64);
        match (before, self.wheel.next_due()) {
            (Some(before), Some(now)) => now < before,
            (None, now) => now.is_some(),
            (Some(_), None) => false,
        }
    }

    /// Sets the timer of a schedule, in place of the one it had.
    fn set(&mut self, due: Due) {
        if let Some((timer, known)) = self.set.get(&due.schedule) {
            if *known == due {
                return;
            }
            self.wheel.cancel(*timer);
        }
        let timer = self.wheel.insert(due.schedule, due.fire_at);
        self.set.insert(due.schedule, (timer, due));
    }

    /// Takes out what has come by `now`, to be written.
    pub(super) fn take(&mut self, now: Timestamp) -> Vec<Due> {
        let come = if self.begun { self.wheel.advance(now) } else { Vec::new() };
        let due: Vec<_> =
            come.iter().filter_map(|id| self.set.remove(id)).map(|(_, due)| due).collect();
        self.writing.extend(due.iter().map(|due| (due.schedule, due.due_at)));
        due
    }

    /// `due` was written, or found not to be so any more.
    pub(super) fn wrote(&mut self, due: &[Due]) {
        for due in due {
            self.writing.remove(&due.schedule);
            self.written.insert(due.schedule, due.due_at);
        }
    }

    /// `due` was not written, and is to be tried again.
    pub(super) fn failed(&mut self, due: &[Due]) {
        for due in due {
            self.writing.remove(&due.schedule);
            self.set(*due);
        }
    }

    /// Forgets all but what is in `shards`.
    pub(super) fn keep(&mut self, shards: &BTreeSet<i16>) {
        let gone: Vec<_> =
            self.set.values().filter(|(_, due)| !shards.contains(&due.shard)).copied().collect();
        for (timer, due) in gone {
            self.wheel.cancel(timer);
            self.set.remove(&due.schedule);
        }
    }

    /// No timer is due before this; `None` while there is none.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.wheel.next_due()
    }
}

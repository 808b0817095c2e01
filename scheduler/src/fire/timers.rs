//! Due times in memory. A cache only: the database decides.
//!
//! One timer per schedule. Due times that are being written are remembered until a later read has begun, so that the
//! result of an earlier read does not add them again.

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
    /// Due times written since the current read began.
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

    /// A read begins at database time `now`; it includes everything written before.
    pub(super) fn read_begins(&mut self, now: Timestamp) {
        self.written.clear();
        // The wheel starts at the database time, which is known only now.
        if !self.begun {
            (self.wheel, self.begun) = (Wheel::new(now), true);
        }
    }

    /// Adds what was read. True if the first due time is earlier than before.
    pub(super) fn insert(&mut self, due: &[Due]) -> bool {
        let before = self.wheel.next_due();
        for due in due {
            let is_old = |current: Option<&Timestamp>| current.is_some_and(|at| *at == due.due_at);
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

    /// Sets the timer of a schedule; replaces an earlier one.
    fn set(&mut self, due: Due) {
        if let Some((timer, current)) = self.set.get(&due.schedule) {
            if *current == due {
                return;
            }
            self.wheel.cancel(*timer);
        }
        let timer = self.wheel.insert(due.schedule, due.fire_at);
        self.set.insert(due.schedule, (timer, due));
    }

    /// Removes and returns what is due at `now`, to be written.
    pub(super) fn remove_due(&mut self, now: Timestamp) -> Vec<Due> {
        let expired = if self.begun { self.wheel.advance(now) } else { Vec::new() };
        let due: Vec<_> =
            expired.iter().filter_map(|id| self.set.remove(id)).map(|(_, due)| due).collect();
        self.writing.extend(due.iter().map(|due| (due.schedule, due.due_at)));
        due
    }

    /// `due` was written, or was out of date.
    pub(super) fn mark_written(&mut self, due: &[Due]) {
        for due in due {
            self.writing.remove(&due.schedule);
            self.written.insert(due.schedule, due.due_at);
        }
    }

    /// `due` was not written and is retried.
    pub(super) fn failed(&mut self, due: &[Due]) {
        for due in due {
            self.writing.remove(&due.schedule);
            self.set(*due);
        }
    }

    /// Drops timers of other shards than `shards`.
    pub(super) fn retain_shards(&mut self, shards: &BTreeSet<i16>) {
        let gone: Vec<_> =
            self.set.values().filter(|(_, due)| !shards.contains(&due.shard)).copied().collect();
        for (timer, due) in gone {
            self.wheel.cancel(timer);
            self.set.remove(&due.schedule);
        }
    }

    /// The first due time; `None`: no timer.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.wheel.next_due()
    }
}

//! The order of one tenant's tasks: earliest start deadline first, in two classes.
//!
//! Tasks that are late, or must become late so that the fewest are ([`super::late`]), are in a second class, ordered by
//! wait time. That class has a guaranteed share of dispatches, counted in caps, and all that the first class leaves.
//! The share grows with the wait of its oldest task, so no task starves: it waits for its own fixed position and then
//! for those ahead of it in the late class.

use super::late::given_up;
use super::pace::Pace;
use super::unread::{Unknown, Unread};
use super::{Candidate, ConcurrencyKey, Turn, Window};
use crate::id::TaskId;
use crate::time::Timestamp;
use chrono::TimeDelta;
use std::collections::BTreeMap;
use std::time::Duration;

/// Smallest share of the late class.
const LATE_LEAST: f64 = 0.2;
/// Its share once its oldest task has waited for [`LATE_GROWS`].
const LATE_MOST: f64 = 0.6;
const LATE_GROWS: Duration = Duration::from_secs(90);
/// Interval of the check which tasks must be late.
const LOOK_EVERY: TimeDelta = TimeDelta::milliseconds(100);
/// Tasks checked, in dispatch order.
const LOOK_MOST: usize = 1000;

#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    on_time: BTreeMap<Turn, Candidate>,
    /// Ordered by due time.
    late: BTreeMap<(Timestamp, TaskId), Candidate>,
    /// Deficit of the late class while others waited, in seconds of cap.
    owed_to_late_s: f64,
    pace: Pace,
    look_from: Timestamp,
    unread: Unread,
}

/// The next task of a queue.
#[derive(Debug)]
pub(super) enum Next<'a> {
    Task(&'a Candidate),
    /// A task that was not read: see [`Window`].
    Unread(Unknown),
    Nothing,
}

impl Queue {
    /// No task waits, read or not.
    pub(super) fn is_empty(&self) -> bool {
        self.on_time.is_empty() && self.late.is_empty() && self.unread.is_nothing()
    }

    pub(super) fn len(&self) -> usize {
        self.on_time.len() + self.late.len()
    }

    /// Adds a task, idempotently. A late task goes to its class at once, because by its position many on-time tasks may
    /// be ahead of it.
    pub(super) fn put(&mut self, now: Timestamp, candidate: Candidate) {
        self.pace.waits(now);
        if candidate.start_deadline < now {
            self.on_time.remove(&candidate.turn());
            self.late.insert(since(&candidate), candidate);
        } else if !self.late.contains_key(&since(&candidate)) {
            self.on_time.insert(candidate.turn(), candidate);
        }
    }

    /// Removes a task; returns whether it was present.
    pub(super) fn remove(&mut self, candidate: &Candidate) -> bool {
        let gone = self.on_time.remove(&candidate.turn()).is_some()
            || self.late.remove(&since(candidate)).is_some();
        if self.is_empty() {
            self.pace.rests();
        }
        gone
    }

    /// Removes all tasks; `unread` describes those that still wait. The pace is kept; which tasks must be late is
    /// checked again.
    pub(super) fn clear(&mut self, unread: Unread) {
        self.on_time.clear();
        self.late.clear();
        self.look_from = Timestamp::default();
        self.unread = unread;
    }

    /// Records that the strand of `window` may have more tasks.
    pub(super) fn more(&mut self, window: &Window) {
        self.unread.more(window);
    }

    /// Holds back tasks of `key` until the next read.
    pub(super) fn hold_back(&mut self, key: &ConcurrencyKey) {
        self.unread.hold_back(key);
    }

    /// The next task.
    pub(super) fn next(&mut self, now: Timestamp) -> Next<'_> {
        if self.look_from <= now {
            self.reclassify(now);
            self.look_from = now + LOOK_EVERY;
        }
        while let Some(head) = self.on_time.first_entry().filter(|e| e.get().start_deadline < now) {
            let candidate = head.remove();
            self.late.insert(since(&candidate), candidate);
        }
        let on_time = match self.on_time.first_key_value() {
            Some((turn, _)) if self.unread.may_be_before(turn) => Next::Unread(Unknown::Surely),
            Some((_, candidate)) => Next::Task(candidate),
            None if self.unread.is_on_time() => Next::Unread(Unknown::Surely),
            None => Next::Nothing,
        };
        let late = match self.late.first_key_value() {
            Some((_, candidate)) => Next::Task(candidate),
            None if self.unread.is_late() => Next::Unread(Unknown::Surely),
            None => Next::Nothing,
        };
        match if self.owed_to_late_s >= 0.0 { (late, on_time) } else { (on_time, late) } {
            (Next::Nothing, Next::Nothing) if !self.unread.is_nothing() => {
                Next::Unread(Unknown::Perhaps)
            }
            (Next::Nothing, second) => second,
            (first, _) => first,
        }
    }

    /// Dispatches this task.
    pub(super) fn went(&mut self, now: Timestamp, candidate: &Candidate) {
        let cap_s = candidate.cap.as_secs_f64();
        let part = self.late_part(now);
        if self.late.remove(&since(candidate)).is_none() {
            self.on_time.remove(&candidate.turn());
            self.owed_to_late_s += cap_s * part / (1.0 - part);
        } else if !self.on_time.is_empty() || self.unread.is_on_time() {
            self.owed_to_late_s -= cap_s;
        }
        self.pace.went(now, candidate.cap);
        if self.is_empty() {
            self.pace.rests();
        }
    }

    /// Moves tasks that must be late to the late class.
    fn reclassify(&mut self, now: Timestamp) {
        let rate = self.pace.rate() * (1.0 - self.late_part(now));
        let first = self.on_time.values().take(LOOK_MOST);
        for turn in given_up(now, rate, first) {
            let candidate = self.on_time.remove(&turn);
            self.late.extend(candidate.map(|candidate| (since(&candidate), candidate)));
        }
    }

    /// The share of the late class; 0 if it is empty.
    fn late_part(&self, now: Timestamp) -> f64 {
        let Some(((due, _), _)) = self.late.first_key_value() else { return 0.0 };
        let grown = (now - *due).as_seconds_f64() / LATE_GROWS.as_secs_f64();
        LATE_LEAST + (LATE_MOST - LATE_LEAST) * grown.clamp(0.0, 1.0)
    }
}

/// Position in the late class.
const fn since(candidate: &Candidate) -> (Timestamp, TaskId) {
    (candidate.due, candidate.task)
}

#[cfg(test)]
mod tests {
    use super::super::Priority;
    use super::super::candidate::tests::{at, task};
    use super::*;

    fn queue(candidates: impl IntoIterator<Item = Candidate>) -> Queue {
        let mut queue = Queue::default();
        candidates.into_iter().for_each(|candidate| queue.put(at(0), candidate));
        queue
    }

    fn next(queue: &mut Queue, now: Timestamp) -> u128 {
        let Next::Task(first) = queue.next(now) else { panic!("nothing waits") };
        let first = first.clone();
        queue.went(now, &first);
        first.task.0.as_u128() % 1000
    }

    #[test]
    fn the_earliest_deadline_goes_first() {
        let mut queue = queue([task(1, 1, 30), task(1, 2, 10), task(1, 3, 20)]);
        let order: Vec<_> = (0..3).map(|_| next(&mut queue, at(0))).collect();
        assert_eq!(order, [2, 3, 1]);
        assert!(matches!(queue.next(at(0)), Next::Nothing));
    }

    #[test]
    fn the_late_class_has_its_part_and_all_that_is_left() {
        let late = (0..3).map(|n| Candidate { due: at(5000), ..task(1, n, 5) });
        let mut queue = queue(late.chain((10..20).map(|n| task(1, n, 1000))));
        let order: Vec<_> = (0..13).map(|_| next(&mut queue, at(5001))).collect();
        assert_eq!(order, [0, 10, 11, 12, 13, 1, 14, 15, 16, 17, 2, 18, 19]);
    }

    #[test]
    fn the_part_of_the_late_class_grows_with_the_wait_of_its_oldest() {
        for (waited_s, part) in [(10, 0.24), (45, 0.4), (90, 0.6), (900, 0.6)] {
            let now = at(waited_s * 1000);
            let late = (0..500).map(|n| task(1, n, 1));
            let mut queue = queue(late.chain((500..999).map(|n| task(1, n, 5000))));
            let of_late = (0..500).filter(|_| next(&mut queue, now) < 500).count();
            assert!((of_late as f64 / 500.0 - part).abs() < 0.02, "{waited_s}: {of_late}");
        }
    }

    #[test]
    fn what_must_be_late_goes_after_what_can_start_in_time() {
        let long = Candidate { cap: Duration::from_secs(9), ..task(1, 1, 10) };
        let mut queue = queue([long, task(1, 2, 11), task(1, 3, 12)]);
        // A second of cap a second, while others wait.
        queue.pace.went(at(9000), Duration::from_secs(9));
        queue.owed_to_late_s = -1.0;
        let order: Vec<_> = (0..3).map(|_| next(&mut queue, at(9000))).collect();
        assert_eq!(order, [2, 3, 1]);
    }

    #[test]
    fn what_comes_late_is_late_at_once_however_much_is_on_time_before_it() {
        let late = Candidate { priority: Priority::new(-10).unwrap(), ..task(1, 1, 5) };
        let mut queue = queue((0..1000).map(|n| task(1, 1000 + n, 100)));
        let window = Window { tasks: vec![late.clone()], more_late: true, ..Window::default() };
        queue.more(&window);
        queue.put(at(6000), late.clone());
        assert!(matches!(queue.next(at(6000)), Next::Task(first) if *first == late));
    }

    #[test]
    fn the_late_class_has_no_more_than_its_part_where_those_on_time_are_not_seen() {
        let mut queue = queue((0..9).map(|n| task(1, n, 5)));
        let window =
            Window { tasks: vec![task(1, 99, 900)], more_on_time: true, ..Window::default() };
        queue.more(&window);
        assert_eq!(next(&mut queue, at(6000)), 0);
        assert!(matches!(queue.next(at(6000)), Next::Unread(_)));
    }

    #[test]
    fn a_task_waits_once() {
        let mut queue = queue([task(1, 1, 1), task(1, 1, 1)]);
        assert!(matches!(queue.next(at(5000)), Next::Task(_)));
        queue.put(at(5000), task(1, 1, 1));
        assert_eq!(queue.len(), 1);
        assert!(queue.remove(&task(1, 1, 1)));
        assert!(queue.is_empty());
    }
}

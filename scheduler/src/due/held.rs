//! Tasks that are due soon, in memory. A cache only: the database decides.

use domain::id::{TaskId, TenantId};
use domain::time::Timestamp;
use domain::wheel::{Timer, Wheel};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use store::task::DueTask;
use tokio::sync::Notify;

/// One timer per task.
#[derive(Debug)]
struct Timers {
    wheel: Wheel<TaskId>,
    set: HashMap<TaskId, (Timer, DueTask)>,
}

/// Shared by the reading and the releasing tick; each can wake the other.
#[derive(Debug)]
pub(crate) struct HeldTasks {
    timers: Mutex<Option<Timers>>,
    release: Arc<Notify>,
    read: Arc<Notify>,
}

impl HeldTasks {
    /// Starts empty; `read` wakes the reading tick.
    pub(crate) fn new(read: Arc<Notify>) -> Self {
        Self { timers: Mutex::new(None), release: Arc::new(Notify::new()), read }
    }

    /// Wakes the releasing tick.
    pub(crate) fn release(&self) -> Arc<Notify> {
        Arc::clone(&self.release)
    }

    /// Wakes the reading tick, because an entry was out of date.
    pub(super) fn request_read(&self) {
        self.read.notify_one();
    }

    /// Adds what was read at `now`; wakes the releasing tick if the first due time is earlier than before.
    pub(super) fn insert(&self, now: Timestamp, due: &[DueTask]) {
        let mut held = self.lock();
        let timers =
            held.get_or_insert_with(|| Timers { wheel: Wheel::new(now), set: HashMap::new() });
        let before = timers.wheel.next_due();
        for task in due {
            timers.set(*task);
        }
        let first = timers.wheel.next_due();
        if first.is_some_and(|first| before.is_none_or(|before| first < before)) {
            self.release.notify_one();
        }
    }

    /// Removes and returns tasks that are due at `now`.
    pub(super) fn remove_due(&self, now: Timestamp) -> Vec<DueTask> {
        let mut held = self.lock();
        let Some(timers) = held.as_mut() else { return Vec::new() };
        let due = timers.wheel.advance(now);
        due.iter().filter_map(|id| timers.set.remove(id)).map(|(_, task)| task).collect()
    }

    /// The first due time; `None`: empty.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.lock().as_ref()?.wheel.next_due()
    }

    /// Number of tasks held.
    pub(super) fn len(&self) -> usize {
        self.lock().as_ref().map_or(0, |timers| timers.set.len())
    }

    /// Removes all, when another process is the batcher.
    pub(super) fn clear(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Timers>> {
        self.timers.lock()
    }
}

impl Timers {
    /// Sets the timer of a task; replaces an earlier one.
    fn set(&mut self, task: DueTask) {
        if let Some((timer, current)) = self.set.get(&task.task) {
            if *current == task {
                return;
            }
            self.wheel.cancel(*timer);
        }
        let timer = self.wheel.insert(task.task, task.due_at);
        self.set.insert(task.task, (timer, task));
    }
}

/// Keys for the statement that releases them.
pub(super) fn keys(due: &[DueTask]) -> Vec<(TenantId, TaskId)> {
    due.iter().map(|task| (task.tenant, task.task)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn task(number: u128, ms: u64) -> DueTask {
        let at = Timestamp::UNIX_EPOCH + Duration::from_millis(ms);
        let (tenant, task) = (TenantId(uuid::Uuid::nil()), TaskId(uuid::Uuid::from_u128(number)));
        DueTask { tenant, task, due_at: at }
    }

    fn at(ms: u64) -> Timestamp {
        Timestamp::UNIX_EPOCH + Duration::from_millis(ms)
    }

    #[test]
    fn each_comes_once_when_it_is_due_and_a_new_time_takes_the_place_of_the_old() {
        let held = HeldTasks::new(Arc::default());
        held.insert(at(1000), &[task(1, 1100), task(2, 1200), task(3, 900)]);
        held.insert(at(1001), &[task(1, 1100), task(2, 1150)]);
        assert_eq!(held.len(), 3);
        assert_eq!(held.remove_due(at(1010)), [task(3, 900)], "overdue: at once");
        assert_eq!(held.remove_due(at(1099)), []);
        assert_eq!(held.remove_due(at(1150)), [task(1, 1100), task(2, 1150)]);
        assert_eq!((held.remove_due(at(1300)), held.next_due(), held.len()), (vec![], None, 0));
    }

    #[test]
    fn all_are_forgotten_at_once() {
        let held = HeldTasks::new(Arc::default());
        held.insert(at(1000), &[task(1, 1100)]);
        held.clear();
        assert_eq!((held.remove_due(at(2000)), held.len()), (vec![], 0));
    }
}

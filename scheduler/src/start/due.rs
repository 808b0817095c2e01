//! The loops that make tasks ready: the poll of due tasks, the release from memory before it, and the sweep of stale
//! hints.

use super::Loops;
use crate::due::{
    CalledTick, ChildrenTick, DueTick, HeldTasks, READ_INTERVAL, ReadDueTick, ReleaseTick,
    STALE_POLL, StaleTick,
};
use bus::Topic;
use runtime::config::SchedulerConfig;
use runtime::tick::{TickPolicy, Ticker};
use std::sync::Arc;
use std::time::Duration;

/// Poll interval if no due times are held in memory.
const DUE_POLL: Duration = Duration::from_millis(50);
/// Poll interval if they are held: the poll then finds what the cache missed, and late tasks that expire.
const MISSED_DUE_POLL: Duration = Duration::from_millis(250);

impl Loops {
    pub(super) fn release_due(&self, settings: &SchedulerConfig) {
        let due = DueTick::new(self.db.clone(), self.bus.clone(), i64::from(settings.due_batch));
        let poll = if settings.due_window.is_zero() { DUE_POLL } else { MISSED_DUE_POLL };
        let ticker = Ticker::new("due", quick(poll)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("due", async move {
            ticker.run(shutdown, || due.tick()).await;
        });
        let stale =
            StaleTick::new(self.db.clone(), self.bus.clone(), i64::from(settings.due_batch));
        let ticker = Ticker::new("stale_hints", quick(STALE_POLL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("stale_hints", async move {
            ticker.run(shutdown, || stale.tick()).await;
        });
        self.release_children();
        self.end_called();
        if !settings.due_window.is_zero() {
            self.hold_due(settings);
        }
    }

    /// Decides what is left of the children of parents that ended.
    fn release_children(&self) {
        let wakeups = self.bus.wakeups(&[Topic::ShardOwner]);
        let children = ChildrenTick::new(self.db.clone(), self.bus.clone());
        let ticker = Ticker::new("children", quick(MISSED_DUE_POLL))
            .wake(wakeups.notify(Topic::ShardOwner))
            .health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("children", async move {
            let _listening = wakeups;
            ticker.run(shutdown, || children.tick()).await;
        });
    }

    /// Ends tasks that nobody completes.
    fn end_called(&self) {
        let called = CalledTick::new(self.db.clone(), self.bus.clone());
        let ticker = Ticker::new("called", quick(MISSED_DUE_POLL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("called", async move {
            ticker.run(shutdown, || called.tick()).await;
        });
    }

    /// Holds due times in memory and releases each task on time.
    fn hold_due(&self, settings: &SchedulerConfig) {
        let wakeups = self.bus.wakeups(&[Topic::ShardOwner]);
        let woken = wakeups.notify(Topic::ShardOwner);
        let held = Arc::new(HeldTasks::new(Arc::clone(&woken)));
        let read = ReadDueTick {
            db: self.db.clone(),
            leader: Arc::clone(&self.leader),
            clock: Arc::clone(&self.clock),
            held: Arc::clone(&held),
            window: settings.due_window,
            limit: i64::from(settings.due_batch),
            last_read: None,
        };
        let read = tokio::sync::Mutex::new(read);
        let ticker = Ticker::new("due_look", quick(READ_INTERVAL)).wake(woken).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("due_look", async move {
            let _listening = wakeups;
            ticker.run(shutdown, || async { read.lock().await.tick().await }).await;
        });
        let (db, bus, clock) = (self.db.clone(), self.bus.clone(), Arc::clone(&self.clock));
        // Woken by the reading tick; otherwise it waits for the next due time.
        let policy = TickPolicy { interval: Duration::from_secs(1), ..quick(READ_INTERVAL) };
        let ticker = Ticker::new("due_release", policy).wake(held.release()).health(&self.health);
        let release = ReleaseTick { db, bus, clock, held };
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("due_release", async move {
            ticker.run(shutdown, || release.tick()).await;
        });
    }
}

pub(super) fn quick(interval: Duration) -> TickPolicy {
    TickPolicy { backoff_max: Duration::from_secs(1), ..TickPolicy::every(interval) }
}

//! The loops that make tasks ready: a poll that misses no due one, before it what is held in memory, and a look at stale hints.

use super::Loops;
use crate::due::{DueTick, HeldTasks, LOOK, LookTick, ReleaseTick, STALE_POLL, StaleTick};
use bus::Topic;
use runtime::config::SchedulerConfig;
use runtime::tick::{TickPolicy, Ticker};
use std::sync::Arc;
use std::time::Duration;

/// How late a due task is noticed at worst where none is held in memory.
const DUE_POLL: Duration = Duration::from_millis(50);
/// The same where they are held: what is looked for then is what holding has missed, and late tasks that asked to expire.
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
        if !settings.due_window.is_zero() {
            self.hold_due(settings);
        }
    }

    /// Reads what is due in the next moment, and releases each when it comes.
    fn hold_due(&self, settings: &SchedulerConfig) {
        let wakeups = self.bus.wakeups(&[Topic::ShardOwner]);
        let woken = wakeups.notify(Topic::ShardOwner);
        let held = Arc::new(HeldTasks::new(Arc::clone(&woken)));
        let look = LookTick {
            db: self.db.clone(),
            leader: Arc::clone(&self.leader),
            clock: Arc::clone(&self.clock),
            held: Arc::clone(&held),
            window: settings.due_window,
            limit: i64::from(settings.due_batch),
            looked: None,
        };
        let look = tokio::sync::Mutex::new(look);
        let ticker = Ticker::new("due_look", quick(LOOK)).wake(woken).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("due_look", async move {
            let _listening = wakeups;
            ticker.run(shutdown, || async { look.lock().await.tick().await }).await;
        });
        let (db, bus, clock) = (self.db.clone(), self.bus.clone(), Arc::clone(&self.clock));
        // Whoever looks wakes it, and it knows itself when the next is due.
        let policy = TickPolicy { interval: Duration::from_secs(1), ..quick(LOOK) };
        let ticker = Ticker::new("due_release", policy).wake(held.release());
        let ticker = ticker.health(&self.health);
        let release = ReleaseTick { db, bus, clock, held };
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("due_release", async move {
            ticker.run(shutdown, || release.tick()).await;
        });
    }
}

fn quick(interval: Duration) -> TickPolicy {
    TickPolicy { backoff_max: Duration::from_secs(1), ..TickPolicy::every(interval) }
}

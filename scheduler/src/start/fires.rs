//! The loops that fire schedules.

use super::Loops;
use crate::fire::{
    DbClock, FireKind, FireTick, Judge, KeepFires, MissedTick, Part, READ_POLL, ReadTick, Shards,
    StreakTick, Timers,
};
use bus::Topic;
use runtime::config::SchedulesConfig;
use runtime::tick::{TickPolicy, Ticker};
use std::sync::Arc;
use std::time::Duration;

/// Names of the loops that fire schedules, two per part of the shards: one that creates tasks, one that starts workflow runs.
const FIRING: [[(&str, FireKind); 2]; 2] = [
    [("fire_even", FireKind::Tasks), ("fire_runs_even", FireKind::Runs)],
    [("fire_odd", FireKind::Tasks), ("fire_runs_odd", FireKind::Runs)],
];
/// Interval of the check for missed fires.
const MISSED_INTERVAL: Duration = Duration::from_secs(5);

impl Loops {
    /// Starts the loops that own shards, read due times and fire them.
    pub(super) fn fire(&self, settings: &SchedulesConfig, cancel_grace: Duration) {
        let clock = Arc::clone(&self.clock);
        let owning = (settings.lease, settings.shards);
        let node = self.leader.node();
        let (db, bus) = (self.db.clone(), self.bus.clone());
        let shards = Arc::new(Shards::new(db, bus, node, owning, Arc::clone(&clock)));
        let judge = Arc::new(Judge::new(settings.misfire_after));
        let parts: Vec<_> = (0..FIRING.len())
            .map(|index| Arc::new(Part::new(index, FIRING.len(), Timers::new())))
            .collect();
        self.own_shards(settings.lease, &shards);
        self.read_due(settings, &shards, &clock, &parts);
        let loops = FIRING.into_iter().zip(&parts);
        for ((name, kind), part) in
            loops.flat_map(|(of, part)| of.into_iter().map(move |one| (one, part)))
        {
            let tick = FireTick {
                kind,
                db: self.db.clone(),
                bus: self.bus.clone(),
                shards: Arc::clone(&shards),
                clock: Arc::clone(&clock),
                part: Arc::clone(part),
                judge: Arc::clone(&judge),
                batch: settings.fire_batch,
                cancel_grace,
                waiting: Vec::new(),
            };
            self.fire_part(name, part, tick);
        }
        self.count_ends();
        self.keep_fires(KeepFires::new(self.db.clone(), self.bus.clone(), shards, clock, judge));
        self.tell_missed(settings.missed_after);
    }

    fn own_shards(&self, lease: Duration, shards: &Arc<Shards>) {
        let policy = TickPolicy { backoff_max: lease / 3, ..TickPolicy::every(lease / 4) };
        let ticker = Ticker::new("schedule_shards", policy).health(&self.health);
        let (shutdown, shards) = (self.shutdown.clone(), Arc::clone(shards));
        // Awaited at shutdown: otherwise others wait for the term to end.
        drop(self.tasks.spawn("schedule_shards", async move {
            ticker.run(shutdown, || shards.tick()).await;
            // At once, not after the other loops.
            shards.leave().await;
        }));
    }

    fn read_due(
        &self,
        settings: &SchedulesConfig,
        shards: &Arc<Shards>,
        clock: &Arc<DbClock>,
        parts: &[Arc<Part>],
    ) {
        let (db, shards, clock) = (self.db.clone(), Arc::clone(shards), Arc::clone(clock));
        let poll = if self.bus.may_lose_wakeups() { READ_POLL } else { READ_POLL * 5 };
        let read = ReadTick::new(db, shards, clock, parts.to_vec(), (poll * 2, settings.clone()));
        let read = tokio::sync::Mutex::new(read);
        let wakeups = self.bus.wakeups(&[Topic::ShardOwner]);
        let policy = TickPolicy {
            interval: poll,
            backoff_max: Duration::from_secs(1),
            ..TickPolicy::every(READ_POLL)
        };
        let ticker = Ticker::new("schedule_window", policy)
            .wake(wakeups.notify(Topic::ShardOwner))
            .health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("schedule_window", async move {
            let _listening = wakeups;
            ticker.run(shutdown, || async { read.lock().await.tick().await }).await;
        });
    }

    fn fire_part(&self, name: &'static str, part: &Arc<Part>, tick: FireTick) {
        // Woken by the read; otherwise it waits for the next due time.
        let second = Duration::from_secs(1);
        let policy =
            TickPolicy { interval: second, backoff_max: second, ..TickPolicy::every(READ_POLL) };
        let woken = part.notify(tick.kind);
        let ticker = Ticker::new(name, policy).wake(woken).health(&self.health);
        let (shutdown, tick) = (self.shutdown.clone(), tokio::sync::Mutex::new(tick));
        drop(self.tasks.spawn(name, async move {
            ticker.run(shutdown, || async { tick.lock().await.tick().await }).await;
        }));
    }

    fn keep_fires(&self, keep: KeepFires) {
        let ticker =
            Ticker::new("schedule_keep", TickPolicy::every(READ_POLL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("schedule_keep", async move {
            ticker.run(shutdown, || keep.tick()).await;
        });
    }

    fn tell_missed(&self, after: Duration) {
        let missed = MissedTick { db: self.db.clone(), after };
        let ticker =
            Ticker::new("missed_fires", TickPolicy::every(MISSED_INTERVAL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("missed_fires", async move {
            ticker.run(shutdown, || missed.tick()).await;
        });
    }

    fn count_ends(&self) {
        let streaks = tokio::sync::Mutex::new(StreakTick::new(self.db.clone()));
        let ticker =
            Ticker::new("schedule_streaks", TickPolicy::every(READ_POLL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("schedule_streaks", async move {
            ticker.run(shutdown, || async { streaks.lock().await.tick().await }).await;
        });
    }
}

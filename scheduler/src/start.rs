//! Starts a scheduler: a value in, a handle out.
//!
//! Called by `cli` and by tests. The rule: on shutdown the batcher stops first and gives its row up at
//! once, so that another takes over without waiting for the lease to end.

use crate::batcher::Batcher;
use crate::due::DueTick;
use crate::fire::{
    DbClock, FireTick, Judge, KeepFires, MissedTick, Part, READ_POLL, ReadTick, Shards, Timers,
};
use crate::keep::{KeepTick, seal_tick};
use crate::leader::Leader;
use crate::tenants::{QuotaTick, TenantTick};
use bus::{Bus, Topic};
use domain::id::NodeId;
use runtime::config::{Config, LimitsConfig, SchedulerConfig, SchedulesConfig};
use runtime::health::Health;
use runtime::health_server;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use runtime::tick::{TickPolicy, Ticker};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use store::connect::SchedulerDb;

/// How late a due task is noticed at worst; no wake-up tells of it.
const DUE_POLL: Duration = Duration::from_millis(50);

/// Above the longest polite stop of a task, until its executor's session is fenced.
const CANCEL_SLACK: Duration = Duration::from_secs(30);
/// Rows of the audit are sealed within 10 s, with room for a failed try.
const SEAL_INTERVAL: Duration = Duration::from_secs(2);

/// Loops that fire schedules, each for its part of the shards. Their names, which must differ.
const FIRING: [&str; 2] = ["fire_even", "fire_odd"];
/// How often due times that were missed are looked for.
const MISSED_INTERVAL: Duration = Duration::from_secs(5);

/// How often quotas that are nearly used up are looked for.
const QUOTA_INTERVAL: Duration = Duration::from_secs(10);

/// Why a scheduler could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database settings are not usable.
    #[error("the scheduler cannot use its database settings")]
    Store(#[from] store::StoreError),
    /// The address of the probes could not be bound.
    #[error("the scheduler cannot listen on {address} (scheduler.listen)")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A running scheduler.
#[derive(Debug)]
pub struct Scheduler {
    /// Where its probes answer.
    pub health_addr: SocketAddr,
    tasks: TaskGroup,
    db: SchedulerDb,
}

impl Scheduler {
    /// Starts all loops. They run until `shutdown`; then call [`Self::stopped`].
    ///
    /// # Errors
    /// When a setting cannot be used or the probes' address is taken.
    pub async fn start(config: &Config, bus: Bus, shutdown: &Shutdown) -> Result<Self, StartError> {
        let tasks = TaskGroup::new();
        let health = Health::new();
        let db = SchedulerDb::connect(&config.database)?;
        let settings: SchedulerConfig = config.scheduler.clone();
        let health_addr =
            health_server::start(settings.listen, health.clone(), &tasks, shutdown.clone())
                .await
                .map_err(|source| StartError::Listen { address: settings.listen, source })?;
        let leader = Arc::new(Leader::new(db.clone(), NodeId::fresh(), settings.batcher_lease));
        bus.watch_dead_letters();
        watch_database(&db, &health, &tasks, shutdown);
        let loops = Loops {
            db: db.clone(),
            bus,
            leader,
            health,
            tasks: tasks.clone(),
            shutdown: shutdown.clone(),
        };
        loops.lead(settings.batcher_lease);
        loops.batch(&settings);
        loops.release_due(&settings);
        let cancel_grace = config.resource_manager.kill_grace + CANCEL_SLACK;
        loops.fire(&config.schedules, cancel_grace);
        loops.seal_audit();
        loops.keep_house(&config.limits);
        loops.watch_quotas();
        loops.clear_deleted(config.limits.deleted_tenant_grace, cancel_grace);
        Ok(Self { health_addr, tasks, db })
    }

    /// Waits for the loops to end after the shutdown; the batcher's gives its row up.
    pub async fn stopped(self, limit: Duration) {
        if let Err(still) = self.tasks.join_all(limit).await {
            tracing::warn!(loops = ?still, "Some loops did not end in time");
        }
        self.db.close().await;
    }
}

fn watch_database(db: &SchedulerDb, health: &Health, tasks: &TaskGroup, shutdown: &Shutdown) {
    let (db, health, shutdown) = (db.clone(), health.clone(), shutdown.clone());
    tasks.spawn_detached("scheduler_database_check", async move {
        store::watch("scheduler_database_check", health, shutdown, || db.ping()).await;
    });
}

struct Loops {
    db: SchedulerDb,
    bus: Bus,
    leader: Arc<Leader>,
    health: Health,
    tasks: TaskGroup,
    shutdown: Shutdown,
}

impl Loops {
    fn lead(&self, lease: Duration) {
        let leader = Arc::clone(&self.leader);
        let ticker = Ticker::new(
            "batcher_lease",
            TickPolicy { backoff_max: lease / 3, ..TickPolicy::every(lease / 4) },
        )
        .health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("batcher_lease", async move {
            ticker.run(shutdown, || leader.tick()).await;
        });
    }

    fn batch(&self, settings: &SchedulerConfig) {
        let batcher = Arc::new(tokio::sync::Mutex::new(Batcher::new(
            self.db.clone(),
            self.bus.clone(),
            Arc::clone(&self.leader),
            settings.clone(),
        )));
        let wakeups = self.bus.wakeups(&[Topic::Batcher]);
        let policy = TickPolicy {
            backoff_max: Duration::from_secs(1),
            ..TickPolicy::every(settings.tick_max)
        };
        let ticker = Ticker::new("batcher", policy)
            .wake(wakeups.notify(Topic::Batcher))
            .health(&self.health);
        let (shutdown, leader) = (self.shutdown.clone(), Arc::clone(&self.leader));
        self.tasks.spawn_detached("batcher", async move {
            let _listening = wakeups;
            ticker.run(shutdown, || async { batcher.lock().await.tick().await }).await;
            // Now, not after the last of the other loops.
            leader.release().await;
        });
    }

    fn release_due(&self, settings: &SchedulerConfig) {
        let due = DueTick::new(self.db.clone(), self.bus.clone(), i64::from(settings.due_batch));
        let wakeups = self.bus.wakeups(&[Topic::ShardOwner]);
        let policy =
            TickPolicy { backoff_max: Duration::from_secs(1), ..TickPolicy::every(DUE_POLL) };
        let ticker =
            Ticker::new("due", policy).wake(wakeups.notify(Topic::ShardOwner)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("due", async move {
            let _listening = wakeups;
            ticker.run(shutdown, || due.tick()).await;
        });
    }

    /// Fires schedules: owns shards, reads what is due soon, writes what has come.
    fn fire(&self, settings: &SchedulesConfig, cancel_grace: Duration) {
        let clock = Arc::new(DbClock::default());
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
        for (name, part) in FIRING.into_iter().zip(&parts) {
            let tick = FireTick {
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
        self.keep_fires(KeepFires::new(self.db.clone(), self.bus.clone(), shards, clock, judge));
        self.tell_missed(settings.missed_after);
    }

    fn own_shards(&self, lease: Duration, shards: &Arc<Shards>) {
        let policy = TickPolicy { backoff_max: lease / 3, ..TickPolicy::every(lease / 4) };
        let ticker = Ticker::new("schedule_shards", policy).health(&self.health);
        let (shutdown, shards) = (self.shutdown.clone(), Arc::clone(shards));
        // Waited for: while it is not told, others wait for the term to end.
        drop(self.tasks.spawn("schedule_shards", async move {
            ticker.run(shutdown, || shards.tick()).await;
            // Now, not after the last of the other loops.
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
        let read = ReadTick::new(db, shards, clock, parts.to_vec(), settings.clone());
        let read = tokio::sync::Mutex::new(read);
        let wakeups = self.bus.wakeups(&[Topic::ShardOwner]);
        let policy =
            TickPolicy { backoff_max: Duration::from_secs(1), ..TickPolicy::every(READ_POLL) };
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
        let policy =
            TickPolicy { backoff_max: Duration::from_secs(1), ..TickPolicy::every(READ_POLL) };
        let ticker = Ticker::new(name, policy).wake(part.notify()).health(&self.health);
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

    fn seal_audit(&self) {
        let db = self.db.clone();
        let ticker =
            Ticker::new("audit_seal", TickPolicy::every(SEAL_INTERVAL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("audit_seal", async move {
            ticker.run(shutdown, || seal_tick(&db)).await;
        });
    }

    fn clear_deleted(&self, grace: Duration, cancel_grace: Duration) {
        let tenants = TenantTick::new(self.db.clone(), self.bus.clone(), grace, cancel_grace);
        let ticker =
            Ticker::new("tenants", TickPolicy::every(Duration::from_secs(1))).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("tenants", async move {
            ticker.run(shutdown, || tenants.tick()).await;
        });
    }

    fn watch_quotas(&self) {
        let quotas = QuotaTick::new(self.db.clone(), Arc::clone(&self.leader));
        let quotas = tokio::sync::Mutex::new(quotas);
        let ticker = Ticker::new("quotas", TickPolicy::every(QUOTA_INTERVAL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("quotas", async move {
            ticker.run(shutdown, || async { quotas.lock().await.tick().await }).await;
        });
    }

    fn keep_house(&self, limits: &LimitsConfig) {
        let keep = KeepTick::new(self.db.clone(), limits.clone());
        let minute = Duration::from_secs(60);
        // No sooner after a failure: whoever waits for a table's lock holds up all that come after.
        let policy =
            TickPolicy { backoff_min: minute, backoff_max: minute, ..TickPolicy::every(minute) };
        let ticker = Ticker::new("keep", policy).health(&self.health);
        let (shutdown, health) = (self.shutdown.clone(), self.health.clone());
        health.set_ready(true);
        self.tasks.spawn_detached("keep", async move {
            let stop = shutdown.clone();
            ticker.run(shutdown, || keep.tick()).await;
            if stop.is_cancelled() {
                health.mark_draining();
            }
        });
    }
}

//! Starts a scheduler from its settings; returns a handle.
//!
//! Called by `cli` and by tests. The rule: on shutdown the batcher stops first and releases its row at once, so that
//! another takes over before the lease expires.

mod due;
mod fires;
mod workflows;

use crate::batcher::Batcher;
use crate::doctor::DoctorTick;
use crate::fire::DbClock;
use crate::keep::{InvoiceTick, KeepTick, seal_tick, usage_tick};
use crate::leader::Leader;
use crate::tenants::{QuotaTick, TenantTick, spend_tick};
use bus::{Bus, Topic};
use domain::id::NodeId;
use runtime::config::{Config, LimitsConfig, SchedulerConfig};
use runtime::health::Health;
use runtime::health_server;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use runtime::tick::{TickPolicy, Ticker};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use store::connect::SchedulerDb;
use store::doctor::{DoctorDb, DoctorOptions};

/// Above the longest graceful stop of a task.
const CANCEL_SLACK: Duration = Duration::from_secs(30);
/// Audit rows are sealed within 10 s, even after one failure.
const SEAL_INTERVAL: Duration = Duration::from_secs(2);
/// How often usage is counted: it is shown within five seconds of an attempt's end.
const USAGE_INTERVAL: Duration = Duration::from_secs(2);

/// Interval of the check of all spend caps.
const SPEND_INTERVAL: Duration = Duration::from_secs(2);

/// How often months are looked for that are over and can be billed.
const INVOICE_INTERVAL: Duration = Duration::from_secs(5);

/// Interval of the check for nearly used quotas.
const QUOTA_INTERVAL: Duration = Duration::from_secs(10);

/// Interval of the doctor.
const DOCTOR_INTERVAL: Duration = Duration::from_secs(60);

/// Why a scheduler could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Invalid database settings.
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
    /// When a setting is invalid or the address of the probes is in use.
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
            clock: Arc::default(),
            health,
            tasks: tasks.clone(),
            shutdown: shutdown.clone(),
        };
        loops.lead(settings.batcher_lease);
        loops.batch(&settings);
        loops.release_due(&settings);
        let cancel_grace = config.resource_manager.kill_grace + CANCEL_SLACK;
        loops.fire(&config.schedules, cancel_grace);
        loops.run_workflows(cancel_grace);
        loops.seal_audit();
        loops.count_usage();
        loops.bill(config.billing.seller.clone());
        loops.keep_house(&config.limits);
        loops.watch_quotas();
        loops.watch_spend();
        let doctor = DoctorDb::connect(&config.database)?;
        loops.examine(doctor, DoctorOptions::background(&config.limits));
        loops.clear_deleted(config.limits.deleted_tenant_grace, cancel_grace);
        Ok(Self { health_addr, tasks, db })
    }

    /// Waits for the loops to end after the shutdown; the batcher releases its row.
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
    /// The database clock, updated by the heartbeat of shards.
    clock: Arc<DbClock>,
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
            self.tasks.clone(),
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
            // At once, not after the other loops.
            leader.release().await;
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

    fn count_usage(&self) {
        let db = self.db.clone();
        let ticker = Ticker::new("usage", TickPolicy::every(USAGE_INTERVAL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("usage", async move {
            ticker.run(shutdown, || usage_tick(&db)).await;
        });
    }

    fn bill(&self, seller: String) {
        let invoices = tokio::sync::Mutex::new(InvoiceTick::new(self.db.clone(), seller));
        let ticker =
            Ticker::new("invoices", TickPolicy::every(INVOICE_INTERVAL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("invoices", async move {
            ticker.run(shutdown, || async { invoices.lock().await.tick().await }).await;
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

    fn watch_spend(&self) {
        let db = self.db.clone();
        let ticker = Ticker::new("spend", TickPolicy::every(SPEND_INTERVAL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("spend", async move {
            ticker.run(shutdown, || spend_tick(&db)).await;
        });
    }

    fn examine(&self, db: DoctorDb, options: DoctorOptions) {
        let tick = DoctorTick::new(db.clone(), self.bus.clone(), Arc::clone(&self.leader), options);
        let tick = tokio::sync::Mutex::new(tick);
        let ticker = Ticker::new("doctor", TickPolicy::every(DOCTOR_INTERVAL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn_detached("doctor", async move {
            ticker.run(shutdown, || async { tick.lock().await.tick().await }).await;
            db.close().await;
        });
    }

    fn keep_house(&self, limits: &LimitsConfig) {
        let keep = KeepTick::new(self.db.clone(), limits.clone());
        let minute = Duration::from_secs(60);
        // Not sooner after a failure: waiting for a table lock blocks everything behind it.
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

//! Starts a notifier from its settings; returns a handle.

use crate::room::Room;
use crate::send::Sender;
use crate::tick::{Ended, WebhookTick};
use domain::pool::PoolPolicy;
use egress::{Client, Lookups};
use runtime::clock;
use runtime::config::Config;
use runtime::health::Health;
use runtime::health_server;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use runtime::tick::{TickPolicy, Ticker};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use store::connect::NotifierDb;
use tokio::sync::Notify;

/// How often events are looked for while nothing happens.
const IDLE: Duration = Duration::from_millis(100);
/// The least time for writing what the last receivers answered, and for closing connections.
const LEAST: Duration = Duration::from_secs(1);
/// Lookups of names at once, in all and of one tenant.
const LOOKUPS: (usize, usize) = (64, 8);
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a notifier could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Invalid database settings.
    #[error("the notifier cannot use its database settings")]
    Store(#[from] store::StoreError),
    /// The address of the probes could not be bound.
    #[error("the notifier cannot listen on {address} (notifier.listen)")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A running notifier.
pub struct Notifier {
    /// Where its probes answer.
    pub health_addr: SocketAddr,
    tasks: TaskGroup,
    tick: Arc<WebhookTick>,
}

impl Notifier {
    /// Starts its loop, which runs until `shutdown`; then call [`Self::stopped`].
    ///
    /// # Errors
    /// When a setting is invalid or the address of the probes is in use.
    pub async fn start(config: &Config, shutdown: &Shutdown) -> Result<Self, StartError> {
        let settings = &config.notifier;
        let (tasks, health) = (TaskGroup::new(), Health::new());
        let db = NotifierDb::connect(&config.database)?;
        let health_addr =
            health_server::start(settings.listen, health.clone(), &tasks, shutdown.clone())
                .await
                .map_err(|source| StartError::Listen { address: settings.listen, source })?;
        let (watched, seen, stop) = (db.clone(), health.clone(), shutdown.clone());
        tasks.spawn_detached("notifier_database_check", async move {
            store::watch("notifier_database_check", seen, stop, || watched.ping()).await;
        });
        let lookups = Lookups {
            name_servers: settings.name_servers.clone(),
            timeout: LOOKUP_TIMEOUT,
            most: LOOKUPS.0,
            most_per_tenant: LOOKUPS.1,
        };
        let pool =
            PoolPolicy { private_targets: settings.private_targets, ..PoolPolicy::default() };
        let sender = Sender {
            client: Client::new(&lookups),
            policy: pool.into(),
            timeout: settings.timeout,
            ends: "2xx,3xx".parse().unwrap_or_default(),
        };
        let woken = Arc::new(Notify::new());
        let tick = Arc::new(WebhookTick {
            db,
            source: format!("urn:berth:{}", config.auth.environment),
            sender: Arc::new(sender),
            room: Room::new(settings.concurrency, settings.webhook_concurrency),
            ended: Ended::default(),
            woken: Arc::clone(&woken),
            tasks: tasks.clone(),
            disable_at: (settings.disable_failures, settings.disable_after),
        });
        let ticker = Ticker::new("notifier", TickPolicy::every(IDLE)).wake(woken).health(&health);
        let (webhooks, stop) = (Arc::clone(&tick), shutdown.clone());
        health.set_ready(true);
        tasks.spawn_detached("notifier", async move {
            ticker.run(stop.clone(), || webhooks.tick()).await;
            if stop.is_cancelled() {
                health.mark_draining();
            }
        });
        Ok(Self { health_addr, tasks, tick })
    }

    /// Waits after the shutdown for the tries that are under way, and writes what became of them. What takes longer than `limit` is sent again by
    /// another notifier.
    pub async fn stopped(self, limit: Duration) {
        let until = clock::monotonic() + limit;
        if let Err(still) = self.tasks.join_all(limit).await {
            tracing::warn!(loops = ?still, "Some tries did not end in time");
        }
        let left = until.saturating_duration_since(clock::monotonic()).max(LEAST);
        if let Ok(Err(error)) = clock::timeout(left, self.tick.settle()).await {
            tracing::warn!(%error, "What the last receivers answered is not written: {error}");
        }
        // A database that does not answer holds no process up.
        clock::timeout(LEAST, self.tick.db.close()).await.ok();
    }
}

//! Starts a resource manager from its settings; returns a handle.
//!
//! Called by `cli` and by tests. The rule on shutdown: stop consuming, return held hints, send the executors to another
//! resource manager, settle their reports, then close. It costs no attempt.

use crate::ends::{EndReporter, Ends, REPORT_INTERVAL};
use crate::fleet::Fleet;
use crate::heartbeat::{Beat, Renewer};
use crate::place::{PoolWorker, run_workers};
use crate::quarantine::QuarantineWriter;
use crate::reap::Reaper;
use crate::report::Reporter;
use crate::retry::{Budgets, RELEASE_INTERVAL, Releaser};
use crate::settle::{Reported, Settler};
use crate::stream::{Connections, Handshake, StreamService};
use crate::{output, stop};
use bus::{Bus, Topic};
use domain::id::NodeId;
use parking_lot::Mutex;
use protocol::GoAway;
use protocol::MAX_MESSAGE_BYTES;
use protocol::executor_stream_server::ExecutorStreamServer;
use runtime::clock;
use runtime::config::{Config, ResourceManagerConfig};
use runtime::health::Health;
use runtime::health_server;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use runtime::tick::{TickPolicy, Ticker, Turns};
use runtime::tls::{ServerTls, TlsError};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use store::connect::RmDb;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tracing::{error, info, warn};

/// Concurrent calls on one connection: an executor has one, and a second while it changes streams.
const STREAMS: u32 = 8;

/// Why a resource manager could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Invalid database settings.
    #[error("the resource manager cannot use its database settings")]
    Store(#[from] store::StoreError),
    /// A secret is missing or too weak.
    #[error("the resource manager cannot use its settings")]
    Config(#[from] runtime::config::ConfigError),
    /// The certificate of the executor port is not usable.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// An address could not be bound.
    #[error("the resource manager cannot listen on {address} ({key})")]
    Listen {
        /// Which setting.
        key: &'static str,
        /// Which address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A running resource manager.
pub struct ResourceManager {
    /// Where executors connect.
    pub addr: SocketAddr,
    /// Where its probes answer.
    pub health_addr: SocketAddr,
    tasks: TaskGroup,
    loops: TaskGroup,
    fleet: Fleet,
    health: Health,
    db: RmDb,
    node: NodeId,
    /// Ends the stream server, after the executors have left.
    server: runtime::shutdown::ShutdownHandle,
}

struct Parts {
    db: RmDb,
    bus: Bus,
    node: NodeId,
    fleet: Fleet,
    ends: Ends,
    budgets: Budgets,
    health: Health,
    settings: ResourceManagerConfig,
    prefetch: u16,
    tasks: TaskGroup,
    loops: TaskGroup,
    shutdown: Shutdown,
}

impl ResourceManager {
    /// Starts all loops. They run until `shutdown`; then call [`Self::stopped`].
    ///
    /// # Errors
    /// When a setting is invalid or an address is in use.
    pub async fn start(config: &Config, bus: Bus, shutdown: &Shutdown) -> Result<Self, StartError> {
        let secret = Arc::new(config.auth.executor_secret()?.clone());
        let settings = config.resource_manager.clone();
        let listen = |key, address, source| StartError::Listen { key, address, source };
        let listener = TcpListener::bind(settings.listen)
            .await
            .map_err(|source| listen("resource_manager.listen", settings.listen, source))?;
        let addr = listener
            .local_addr()
            .map_err(|source| listen("resource_manager.listen", settings.listen, source))?;
        let (server, serving) = Shutdown::new();
        let (certificate, key) = settings.tls_files();
        let tls = ServerTls::of(certificate, key)?;
        let handshake = Handshake::new(tls.as_ref())?;
        let parts = Parts {
            db: RmDb::connect(&config.database)?,
            bus,
            node: NodeId::fresh(),
            fleet: Fleet::new(settings.quarantine()),
            ends: Ends::default(),
            budgets: Budgets::new(settings.retry_budget(), settings.retry_max_hold),
            health: Health::new(),
            settings: settings.clone(),
            prefetch: config.bus.prefetch,
            tasks: TaskGroup::new(),
            loops: TaskGroup::new(),
            shutdown: shutdown.clone(),
        };
        let health_addr = health_server::start(
            settings.health_listen,
            parts.health.clone(),
            &parts.tasks,
            serving.clone(),
        )
        .await
        .map_err(|source| {
            listen("resource_manager.health_listen", settings.health_listen, source)
        })?;
        if let Some(tls) = tls {
            let renewed = tls.keep_renewed("tls_renewal", parts.health.clone(), serving.clone());
            parts.tasks.spawn_detached("tls_renewal", renewed);
        }
        parts.serve(listener, handshake, secret, serving);
        parts.watch_database();
        parts.reap();
        parts.send_stops();
        parts.report();
        parts.report_ends();
        parts.release_retries();
        parts.note_quarantines();
        parts.health.set_ready(true);
        info!(%addr, node = %parts.node, "The resource manager listens on {addr}");
        let Parts { db, node, fleet, health, tasks, loops, .. } = parts;
        Ok(Self { addr, health_addr, tasks, loops, fleet, health, db, node, server })
    }

    /// Waits for an orderly end after the shutdown, `limit` at most.
    pub async fn stopped(self, limit: Duration) {
        self.health.mark_draining();
        for stream in self.fleet.streams() {
            stream.send(GoAway { reason: "this resource manager is stopping".to_owned() });
        }
        // Placement ends first, so that nothing new is assigned; then the executors leave, with their results settled.
        if let Err(still) = self.loops.join_all(limit).await {
            warn!(loops = ?still, "Some loops did not end in time");
        }
        let until = clock::monotonic() + limit;
        while !self.fleet.streams().is_empty() && clock::monotonic() < until {
            clock::sleep(Duration::from_millis(20)).await;
        }
        if let Err(error) = store::load::forget(&self.db, self.node).await {
            warn!(%error, "The last report to the batcher failed; its reports expire");
        }
        self.server.shut_down();
        if let Err(still) = self.tasks.join_all(limit).await {
            warn!(tasks = ?still, "Some streams did not end in time");
        }
        self.db.close().await;
    }
}

impl Parts {
    fn serve(
        &self,
        listener: TcpListener,
        handshake: Handshake,
        secret: Arc<runtime::config::SecretString>,
        serving: Shutdown,
    ) {
        let (beats_tx, beats) = mpsc::channel(10_000);
        let (reported_tx, reported) = mpsc::channel(256);
        let (pools_tx, pools) = mpsc::unbounded_channel();
        let (output, writer) = output::queue();
        let service = StreamService {
            db: self.db.clone(),
            node: self.node,
            fleet: self.fleet.clone(),
            secret,
            lease_term: self.settings.lease_term,
            kill_grace: self.settings.kill_grace,
            beats: beats_tx,
            reported: reported_tx,
            output: output.clone(),
            pools: pools_tx,
            tasks: self.tasks.clone(),
            shutdown: self.shutdown.clone(),
            streams: Arc::default(),
        };
        self.settle(output, writer, beats, reported);
        self.place(pools);
        let server = Server::builder()
            .http2_keepalive_interval(Some(Duration::from_secs(5)))
            .http2_keepalive_timeout(Some(Duration::from_secs(5)))
            .max_concurrent_streams(Some(STREAMS))
            .add_service(
                ExecutorStreamServer::new(service)
                    .max_decoding_message_size(MAX_MESSAGE_BYTES)
                    .max_encoding_message_size(MAX_MESSAGE_BYTES),
            );
        let most = self.settings.max_connections;
        let connections = Connections::new(most, self.settings.first_call_timeout);
        self.tasks.spawn_detached("executor_server", async move {
            // The builder's own setting is for sockets that it creates. Without TCP_NODELAY an assignment waits up to
            // 40 ms for a delayed acknowledgement.
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true)).filter_map(
                move |stream: std::io::Result<TcpStream>| {
                    stream.map(|stream| connections.admit(stream)).transpose()
                },
            );
            let incoming = handshake.perform(most, incoming);
            let stop = async move { serving.cancelled().await };
            if let Err(error) = server.serve_with_incoming_shutdown(incoming, stop).await {
                error!(%error, "The executor server ended");
            }
        });
    }

    fn settle(
        &self,
        output: output::OutputQueue,
        writer: output::OutputWriter,
        beats: mpsc::Receiver<Beat>,
        reported: mpsc::Receiver<Vec<Reported>>,
    ) {
        let settler = Settler {
            db: self.db.clone(),
            fleet: self.fleet.clone(),
            bus: self.bus.clone(),
            output,
            ends: self.ends.clone(),
            budgets: self.budgets.clone(),
            batch: self.settings.settle_batch,
        };
        let turns = |name| Turns::of(name, &self.health);
        self.tasks.spawn_detached("settle", settler.run(turns("settle"), reported));
        self.tasks.spawn_detached(
            "output",
            writer.run(
                turns("output"),
                (self.db.clone(), self.bus.clone()),
                self.settings.output_batch_bytes,
            ),
        );
        let renewer = Renewer {
            db: self.db.clone(),
            node: self.node,
            fleet: self.fleet.clone(),
            term: self.settings.lease_term,
        };
        self.tasks.spawn_detached("heartbeat", renewer.run(turns("heartbeat"), beats));
    }

    fn place(&self, pools: mpsc::UnboundedReceiver<domain::id::PoolName>) {
        let (db, node, bus, fleet) =
            (self.db.clone(), self.node, self.bus.clone(), self.fleet.clone());
        let (settings, prefetch) = (self.settings.clone(), self.prefetch);
        let health = self.health.clone();
        let worker = move |pool| PoolWorker {
            pool,
            db: db.clone(),
            node,
            bus: bus.clone(),
            fleet: fleet.clone(),
            settings: settings.clone(),
            prefetch,
            health: health.clone(),
        };
        self.loops.spawn_detached(
            "pools",
            run_workers(pools, self.loops.clone(), self.shutdown.clone(), worker),
        );
    }

    fn watch_database(&self) {
        let (db, health, shutdown) = (self.db.clone(), self.health.clone(), self.shutdown.clone());
        self.tasks.spawn_detached("rm_database_check", async move {
            store::watch("rm_database_check", health, shutdown, || db.ping()).await;
        });
    }

    fn reap(&self) {
        let reaper = Reaper {
            db: self.db.clone(),
            node: self.node,
            fleet: self.fleet.clone(),
            bus: self.bus.clone(),
            term: self.settings.lease_term,
            good_since: Mutex::new(None),
        };
        let ticker =
            Ticker::new("reap", TickPolicy::every(Duration::from_millis(500))).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.loops
            .spawn_detached("reap", async move { ticker.run(shutdown, || reaper.tick()).await });
    }

    fn send_stops(&self) {
        let wakeups = self.bus.wakeups(&[Topic::ResourceManager]);
        let ticker = Ticker::new("stop", TickPolicy::every(Duration::from_millis(200)))
            .wake(wakeups.notify(Topic::ResourceManager))
            .health(&self.health);
        let (db, fleet, shutdown) = (self.db.clone(), self.fleet.clone(), self.shutdown.clone());
        self.loops.spawn_detached("stop", async move {
            let _listening = wakeups;
            ticker.run(shutdown, || stop::tick(&db, &fleet)).await;
        });
    }

    fn report(&self) {
        let reporter = Reporter {
            db: self.db.clone(),
            node: self.node,
            fleet: self.fleet.clone(),
            bus: self.bus.clone(),
            interval: self.settings.report_interval,
            last: Mutex::new(None),
        };
        // Changes wake it; an unchanged report is repeated each second.
        let policy = TickPolicy {
            interval: Duration::from_millis(500),
            ..TickPolicy::every(Duration::from_millis(200))
        };
        let ticker = Ticker::new("report", policy).wake(self.fleet.changed()).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.loops.spawn_detached("report", async move {
            ticker.run(shutdown, || reporter.tick()).await
        });
    }

    fn release_retries(&self) {
        let releaser = Releaser {
            db: self.db.clone(),
            bus: self.bus.clone(),
            budgets: self.budgets.clone(),
            last_update: Mutex::new(None),
            pruned: Mutex::new(None),
        };
        let ticker =
            Ticker::new("retries", TickPolicy::every(RELEASE_INTERVAL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.loops.spawn_detached("retries", async move {
            ticker.run(shutdown, || releaser.tick()).await;
        });
    }

    fn note_quarantines(&self) {
        let noter = QuarantineWriter {
            db: self.db.clone(),
            node: self.node,
            fleet: self.fleet.clone(),
            noted: Mutex::default(),
        };
        let policy = TickPolicy::every(Duration::from_millis(500));
        let ticker = Ticker::new("quarantine", policy).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.loops.spawn_detached("quarantine", async move {
            ticker.run(shutdown, || noter.tick()).await;
        });
    }

    fn report_ends(&self) {
        let (db, node, ends) = (self.db.clone(), self.node, self.ends.clone());
        let reporter = EndReporter { db, node, ends, next: Mutex::new(1) };
        let ticker = Ticker::new("ends", TickPolicy::every(REPORT_INTERVAL)).health(&self.health);
        let shutdown = self.shutdown.clone();
        self.loops.spawn_detached("ends", async move {
            ticker.run(shutdown, || reporter.tick()).await;
        });
    }
}

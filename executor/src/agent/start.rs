//! Puts an executor together from its settings, and takes it apart after the drain.

use super::event::Event;
use super::heart::Heart;
use super::outbox::Outbox;
use super::state::{Agent, Disk, Session, Settings};
use super::turn::Inbox;
use super::work::Work;
use crate::command::{self, CommandDriver, IsolationError, Spawner, WorkFolders, establish};
use crate::data_dir::{DataDir, DataDirError};
use crate::driver::{Ended, Services};
use crate::drivers::{Drivers, UnknownDriver};
use crate::earlier::Earlier;
use crate::identity::{IdentityError, Users};
use crate::isolation::{IsolationReport, Strength};
use crate::output::{Flight, OutputLimits, OutputQueue};
use crate::spool::{Spool, SpoolError, SpoolFile};
use crate::stream::{DialError, Dialer, Line};
use crate::supervise;
use domain::task::LeaseKey;
use runtime::clock;
use runtime::config::{ConfigError, ExecutorConfig, ExposeSecret, SecretString};
use runtime::health::Health;
use runtime::health_server;
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::{TaskEnded, TaskGroup, TaskHandle};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use tonic::metadata::AsciiMetadataValue;

/// Events that may wait for the agent; then whoever has more waits, too.
const EVENTS: usize = 256;
/// Time for everything but the agent to end.
const LAST_TASKS: Duration = Duration::from_millis(500);

/// Why an executor cannot start, or did not end as it should.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    /// A setting is missing or wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The secret holds something that no header can.
    #[error("`auth.executor_secret` may hold only visible ASCII letters")]
    Secret,
    /// `executor.data_dir` cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// `executor.run_as_user` or `executor.run_as_uids` cannot be used.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// `executor.drivers` names one that there is not.
    #[error(transparent)]
    Driver(#[from] UnknownDriver),
    /// `executor.isolation` cannot be had.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
    /// The spool cannot be used.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// No address to connect to is usable.
    #[error(transparent)]
    Address(#[from] DialError),
    /// The probes' address cannot be bound.
    #[error("cannot serve probes on {address}")]
    Health {
        /// `executor.health_listen`.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// The agent's loop broke; what it ran has been killed.
    #[error("the agent's loop ended")]
    Loop(#[source] TaskEnded),
}

/// Runs attempts on this machine for the resource managers it is given.
#[derive(Debug, Clone, Copy)]
pub struct Executor;

/// A running executor. It ends after its `Shutdown` was announced and its work is drained.
#[derive(Debug)]
pub struct Handle {
    agent: TaskHandle<()>,
    health_address: SocketAddr,
    health_stop: ShutdownHandle,
    isolation: IsolationReport,
    tasks: TaskGroup,
    data_dir: DataDir,
}

impl Executor {
    /// Starts an executor inside the present tokio runtime and returns once it is dialling.
    ///
    /// `secret` is what it shows to resource managers (`auth.executor_secret`). The binary's `main` must
    /// call [`crate::supervise::maybe_run`] first, because commands are run through the same binary.
    ///
    /// # Errors
    /// When a setting, the data folder, the user or the spool cannot be used; never because no resource
    /// manager answers: that is retried for ever.
    pub async fn start(
        config: &ExecutorConfig,
        secret: &SecretString,
        shutdown: Shutdown,
    ) -> Result<Handle, ExecutorError> {
        let data_dir = DataDir::open(&config.data_dir).await?;
        let (users, not_own) = Users::of(config)?;
        let folders = WorkFolders::open(data_dir.work())
            .map_err(|source| DataDirError::Io { path: data_dir.work(), source })?;
        clean_leftovers(&folders).await?;
        supervise::protect();
        let spawner = Spawner::start().map_err(ExecutorError::Thread)?;
        let isolation = establish(config, &folders, (&users, not_own), &spawner).await?;
        let report = isolation.report().clone();
        report.publish();
        let (spool_path, sessions) = (data_dir.spool(), data_dir.sessions());
        let opened = move || (SpoolFile::open(&spool_path), Earlier::open(sessions));
        let (file, earlier) =
            spawn_blocking(opened).await.map_err(|error| ExecutorError::Thread(error.into()))?;
        let file = file?;

        let health = Health::new();
        let tasks = TaskGroup::new();
        let (health_stop, health_shutdown) = Shutdown::new();
        let address = config.health_listen;
        let health_address = health_server::start(address, health.clone(), &tasks, health_shutdown)
            .await
            .map_err(|source| ExecutorError::Health { address, source })?;

        let (events_in, events) = mpsc::channel(EVENTS);
        let (written_in, written) = mpsc::unbounded_channel();
        let (ended_in, ended) = mpsc::channel(EVENTS);
        let isolation = Arc::new(isolation);
        let command = CommandDriver { folders, users, spawner, isolation };
        let parts = Parts {
            drivers: Drivers::new(config, command)?,
            ended: ended_in,
            file,
            earlier,
            written: written_in,
            events: events_in,
            health,
        };
        let agent = assemble(config, secret, parts, tasks.clone())?;
        let id = agent.settings.id.clone();
        tracing::info!(executor.id = %id, session.id = %agent.session.id, %health_address, "Executor `{id}` starts");
        if report.strength("seccomp") == Strength::Enforced {
            tracing::info!(executor.id = %id, "Commands on `{id}`: {report}");
        } else {
            tracing::warn!(executor.id = %id, "Commands on `{id}` are not isolated: {report}");
        }
        let inbox = Inbox { events, ended, written, shutdown };
        let agent = tasks.spawn("executor_agent", async move {
            let agent = agent.run(inbox).await;
            let spool = agent.disk.spool;
            // Closes the stream before the last word is written.
            drop(agent.line);
            spawn_blocking(move || spool.stop()).await.ok();
        });
        Ok(Handle { agent, health_address, health_stop, isolation: report, tasks, data_dir })
    }
}

impl Handle {
    /// Where the probes and metrics are served.
    #[must_use]
    pub const fn health_address(&self) -> SocketAddr {
        self.health_address
    }

    /// What its commands are truly held to on this machine. As text it is one line.
    #[must_use]
    pub const fn isolation(&self) -> &IsolationReport {
        &self.isolation
    }

    /// Waits until the executor has drained after its shutdown.
    ///
    /// # Errors
    /// [`ExecutorError::Loop`] when its loop broke.
    pub async fn wait(mut self) -> Result<(), ExecutorError> {
        let ended = self.agent.join().await.map_err(ExecutorError::Loop);
        self.health_stop.shut_down();
        // What is left are dials and pumps, which end with the process.
        self.tasks.join_all(LAST_TASKS).await.ok();
        drop(self.data_dir);
        ended
    }
}

/// Starts an executor and waits for its end. What `berth executor` does.
///
/// # Errors
/// As [`Executor::start`] and [`Handle::wait`].
pub async fn run(
    config: &ExecutorConfig,
    secret: &SecretString,
    shutdown: Shutdown,
) -> Result<(), ExecutorError> {
    Executor::start(config, secret, shutdown).await?.wait().await
}

struct Parts {
    drivers: Drivers,
    ended: mpsc::Sender<(LeaseKey, Ended)>,
    file: SpoolFile,
    earlier: Earlier,
    written: mpsc::UnboundedSender<crate::spool::Written>,
    events: mpsc::Sender<Event>,
    health: Health,
}

async fn clean_leftovers(folders: &WorkFolders) -> Result<(), ExecutorError> {
    let folders = folders.clone();
    let cleaned = spawn_blocking(move || command::clean(&folders)).await;
    if let Ok(Err(error)) = &cleaned {
        tracing::error!(%error, "Work folders of an earlier boot cannot be removed: {error}");
    }
    cleaned.map(|_| ()).map_err(|error| ExecutorError::Thread(error.into()))
}

fn assemble(
    config: &ExecutorConfig,
    secret: &SecretString,
    parts: Parts,
    tasks: TaskGroup,
) -> Result<Agent, ExecutorError> {
    let bearer = format!("Bearer {}", secret.expose_secret());
    let mut authorization: AsciiMetadataValue =
        bearer.parse().map_err(|_| ExecutorError::Secret)?;
    authorization.set_sensitive(true);
    let mut outbox = Outbox::default();
    for result in parts.file.live() {
        if let Ok(key) = result.key() {
            outbox.add_ready(key, result.clone());
        }
    }
    let live_bytes = parts.file.live_bytes();
    let spool = Spool::start(parts.file, parts.written).map_err(ExecutorError::Thread)?;
    let (session, mut earlier) = (Session::fresh(), parts.earlier);
    earlier.begin(session.id);
    let limits = OutputLimits { head: config.output_head_bytes, tail: config.output_tail_bytes };
    Ok(Agent {
        settings: Settings {
            id: config.id()?,
            pool: config.pool.clone(),
            capacity: crate::capacity::announced(config),
            authorization,
            drain_grace: config.drain_grace,
            spool_max_bytes: config.spool_max_bytes,
        },
        session,
        earlier,
        line: Line::new(Dialer::new(&config.resource_managers, config.ca_file())?),
        heart: Heart::new(clock::monotonic()),
        work: Work {
            running: Default::default(),
            sleepers: Default::default(),
            drivers: parts.drivers,
            services: Services {
                tasks: tasks.clone(),
                ended: parts.ended,
                output: Arc::new(OutputQueue::default()),
                limits,
                lease_until: watch::Sender::new(0),
            },
        },
        outbox,
        disk: Disk { spool, live_bytes, failure: None },
        flight: Flight::default(),
        accepted: Vec::new(),
        output_was_last: false,
        drain: None,
        events: parts.events,
        tasks,
        health: parts.health,
    })
}

//! Opens the API and returns a handle: port 0 allowed, the port taken is in the handle.
//!
//! Called by the binary and by tests, which start the real thing.

use super::door::Door;
use super::drain::{Closing, drain};
use super::mount::Mounted;
use crate::description::document;
use crate::limit::keep_up;
use crate::start_error::StartError;
use crate::state::{Parts, State};
use crate::submit::{Writers, queue};
use actix_web::{App, HttpServer};
use bus::Bus;
use identity::UsedKeys;
use runtime::config::Config;
use runtime::health::Health;
use runtime::health_server;
use runtime::shutdown::Shutdown;
use runtime::tasks::{StillRunning, TaskGroup};
use runtime::tick::{TickOutcome, TickPolicy, Ticker};
use runtime::tls::ServerTls;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use store::connect::{AdminDb, ApiDb, CountDb, SubmitDb};

/// Idle connections are kept this long; longer than a minute, as load balancers do.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// A request's head must be complete by then: holding connections open with half a head is an attack.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// After an answer to a request whose body was not read to its end, for so long what still comes is read and dropped: a socket that
/// is closed with unread bytes resets its connection, and the client might never see the answer.
const LINGER: Duration = Duration::from_secs(1);
/// How often the use of keys is written down.
const USED_KEYS_INTERVAL: Duration = Duration::from_secs(30);

/// How often sign-ins that are long over are dropped, and how many at once.
const PURGE_INTERVAL: Duration = Duration::from_secs(600);
const PURGE_BATCH: i64 = 5000;

/// A running API.
#[derive(Debug)]
pub struct Handle {
    /// Where it listens, with the port it took.
    pub addr: SocketAddr,
    /// Where its probes and metrics are, too, when they have an address of their own.
    pub metrics: Option<SocketAddr>,
    tasks: TaskGroup,
    grace: Duration,
}

impl Handle {
    /// Waits until it has stopped: announce the shutdown first.
    ///
    /// # Errors
    /// Names what did not stop in time.
    pub async fn stopped(self) -> Result<(), StillRunning> {
        self.tasks.join_all(self.grace).await
    }
}

/// Starts the API. It runs until `shutdown`; then it says that it is not ready, stops accepting, and
/// gives open requests `api.shutdown_grace` to end.
///
/// # Errors
/// When settings are not usable or the address is taken. An absent database is no error: the API starts,
/// is not ready, and answers 503.
pub async fn start(config: &Config, bus: Bus, shutdown: Shutdown) -> Result<Handle, StartError> {
    let (api, submit) = (ApiDb::connect(&config.database)?, SubmitDb::connect(&config.database)?);
    let admin = AdminDb::connect(&config.database)?;
    let sign_in = SubmitDb::connect_for_sign_in(&config.database)?;
    let (health, tasks) = (Health::new(), TaskGroup::new());
    let (intake, waiting) = queue();
    // Writers end after the last request, not with the shutdown.
    let (stop_writers, writing) = Shutdown::new();
    let writers = Writers::new(config, &bus, &waiting, &tasks, &writing)?;
    let (wakeups, limits) = (bus.clone(), config.limits.clone());
    let parts = Parts {
        api: api.clone(),
        submit: submit.clone(),
        admin: admin.clone(),
        sign_in: sign_in.clone(),
        counts: CountDb::connect(&config.database)?,
        bus,
        health: health.clone(),
        tasks: tasks.clone(),
        intake,
        openapi: LazyLock::new(Box::new(move || {
            serde_json::to_vec(&document(&limits)).map(Into::into)
        })),
    };
    let state = State::new(config, parts)?;
    let used = (state.authenticator.used(), state.operators.used());
    let (certificate, key) = config.api.tls_files();
    let tls = ServerTls::of(certificate, key)?;
    let mounted = Mounted::new(state, tls.is_some())?;
    let state = mounted.state();
    let (server, door) = listen(config, mounted, writers, tls.as_ref())?;
    if let Some(tls) = tls {
        let renewed = tls.keep_renewed("api_tls_renewal", health.clone(), shutdown.clone());
        tasks.spawn("api.tls_renewal", renewed);
    }
    let addr = door.address();

    let metrics = match config.api.metrics_listen {
        None => None,
        // It outlives the last request: readiness is how a drain is seen.
        Some(address) => Some(
            health_server::start(address, health.clone(), &tasks, writing.clone())
                .await
                .map_err(|source| StartError::Listen { address, source })?,
        ),
    };
    keep_up(&state.limiter, (&tasks, &health), &writing);
    let (hub, db, until) = (state.hub.clone(), api.clone(), shutdown.clone());
    tasks.supervise("api.live_output", shutdown.clone(), move || {
        hub.clone().run(db.clone(), wakeups.clone(), until.clone())
    });
    tasks.spawn("api.sign_in_purge", purge_sign_ins(sign_in, health.clone(), shutdown.clone()));
    let dbs = (submit.clone(), admin);
    tasks.spawn("api.used_keys", flush_used(used, dbs, health.clone(), shutdown.clone()));
    tasks
        .spawn("api.database_check", watch_database(api, submit, health.clone(), shutdown.clone()));
    let closing = Closing { door, http: server.handle(), state, stop_writers };
    tasks.spawn("api.http", server);
    let grace = config.api.shutdown_grace;
    tasks.spawn("api.drain", drain(closing, health.clone(), shutdown, grace));
    health.set_ready(true);
    tracing::info!(%addr, "The API listens on {addr}");
    Ok(Handle { addr, metrics, tasks, grace: grace + Duration::from_secs(5) })
}

fn listen(
    config: &Config,
    mounted: Mounted,
    writers: Writers,
    tls: Option<&ServerTls>,
) -> Result<(actix_web::dev::Server, Door), StartError> {
    let address = config.api.listen;
    let refused = |source| StartError::Listen { address, source };
    let (door, listener) = Door::open(address, config.api.write_timeout).map_err(refused)?;
    // Each thread calls this once.
    let bound = HttpServer::new(move || {
        writers.offer_this_thread();
        let mounted = mounted.clone();
        App::new().configure(move |routes| mounted.configure(routes))
    })
    .workers(config.api.http_workers())
    .disable_signals()
    .keep_alive(KEEP_ALIVE)
    .client_request_timeout(HEAD_TIMEOUT)
    .client_disconnect_timeout(LINGER)
    .tcp_nodelay(true)
    .shutdown_timeout(config.api.shutdown_grace.as_secs().max(1));
    let bound = match tls {
        // actix adds the protocol names for ALPN.
        Some(tls) => bound.listen_rustls_0_23(listener, tls.config(&[])?),
        None => bound.listen(listener),
    }
    .map_err(refused)?;
    Ok((bound.run(), door))
}

/// Every process does this; what one has deleted another does not find.
async fn purge_sign_ins(db: SubmitDb, health: Health, shutdown: Shutdown) {
    let ticker =
        Ticker::new("api_sign_in_purge", TickPolicy::every(PURGE_INTERVAL)).liveness(&health);
    ticker
        .run(shutdown, || async {
            store::sign_in::purge(&db, PURGE_BATCH).await.map(TickOutcome::idle)
        })
        .await;
}

/// Keeps `/readyz` true to the database, as requests and as submits reach it.
async fn watch_database(api: ApiDb, submit: SubmitDb, health: Health, shutdown: Shutdown) {
    let (api, submit) = (&api, &submit);
    let ping = || async {
        api.ping().await?;
        submit.ping().await
    };
    store::watch("api_database_check", health, shutdown, ping).await;
}

async fn flush_used(
    (keys, operators): (Arc<UsedKeys>, Arc<UsedKeys>),
    (submit, admin): (SubmitDb, AdminDb),
    health: Health,
    shutdown: Shutdown,
) {
    let ticker =
        Ticker::new("api_used_keys", TickPolicy::every(USED_KEYS_INTERVAL)).liveness(&health);
    let (submit, admin) = (&submit, &admin);
    ticker
        .run(shutdown, || async {
            keys.flush(|ids| async move { store::key::touch_last_used(submit, &ids).await })
                .await?;
            operators
                .flush(|ids| async move { store::operator_key::touch_last_used(admin, &ids).await })
                .await
        })
        .await;
}

//! Keeps one connection to the broker, for as long as the process lives.
//!
//! The publisher and the consumers have a link each: RabbitMQ stops reading from a connection that
//! publishes while its memory or disk alarm is on, and acks must not wait behind that. The rule: a
//! lost session is replaced with jittered back-off, and no caller waits on a dead one.
//! lapin's own recovery is not used: it gives up after some attempts, and it replays channels whose
//! unconfirmed messages and open deliveries must count as lost.

use super::session::Session;
use super::settings::Settings;
use crate::metrics;
use crate::outcome::ConnectionState;
use futures::StreamExt;
use runtime::backoff::Backoff;
use runtime::clock;
use runtime::shutdown::Shutdown;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tracing::{debug, info, warn};

/// The first back-off before connecting again.
const RETRY_FIRST: Duration = Duration::from_millis(100);
/// Interval of checks of a connection, in addition to its events.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Time limit of closing a connection.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub(crate) struct Link {
    shared: Arc<Shared>,
}

struct Shared {
    name: &'static str,
    settings: Settings,
    session: watch::Sender<Option<Arc<Session>>>,
    state: watch::Sender<ConnectionState>,
}

impl Link {
    /// A link that is not running yet; give [`Self::run`] to a supervisor.
    pub(crate) fn new(name: &'static str, settings: Settings) -> Self {
        let session = watch::Sender::new(None);
        let state = watch::Sender::new(ConnectionState::Connecting);
        Self { shared: Arc::new(Shared { name, settings, session, state }) }
    }

    /// The live session, if there is one now.
    pub(crate) fn session(&self) -> Option<Arc<Session>> {
        self.shared.session.borrow().clone().filter(|session| session.is_connected())
    }

    /// Waits for a live session.
    pub(crate) async fn connected(&self) -> Arc<Session> {
        let mut sessions = self.shared.session.subscribe();
        loop {
            let now = sessions.borrow_and_update().clone();
            if let Some(session) = now.filter(|session| session.is_connected()) {
                return session;
            }
            // The sender lives in `self`, so this cannot fail; the timer finds a session that was
            // lost while the link has not checked it yet.
            let _ = clock::timeout(CHECK_INTERVAL, sessions.changed()).await;
        }
    }

    pub(crate) fn state(&self) -> watch::Receiver<ConnectionState> {
        self.shared.state.subscribe()
    }

    /// Connects, and connects again after each loss; ends with the process.
    pub(crate) async fn run(self, shutdown: Shutdown) {
        let mut backoff = Backoff::new(RETRY_FIRST, self.shared.settings.reconnect_max);
        let mut has_warned = false;
        let mut turn = self.shared.settings.random_turn();
        while !shutdown.is_cancelled() {
            match Session::open(self.shared.name, self.shared.settings.clone(), turn).await {
                Ok(session) => {
                    backoff.reset();
                    has_warned = false;
                    self.serve(&Arc::new(session), &shutdown).await;
                }
                Err(fault) => {
                    metrics::connect_failures(self.shared.name).inc();
                    let (link, cause) = (self.shared.name, fault.explained());
                    if has_warned {
                        debug!(link, cause, "RabbitMQ is still unreachable: {cause}");
                    } else {
                        warn!(link, cause, "RabbitMQ is unreachable, retrying: {cause}");
                        has_warned = true;
                    }
                }
            }
            // The next host, if there is another: this one is unreachable or did not respond.
            turn = turn.wrapping_add(1);
            shutdown.sleep(backoff.pause()).await;
        }
        self.set_state(ConnectionState::Closed);
    }

    /// Publishes the session to all users of the link until it is lost or the process ends.
    async fn serve(&self, session: &Arc<Session>, shutdown: &Shutdown) {
        let link = self.shared.name;
        info!(link, "Connected to RabbitMQ");
        // In this order: a caller that sees `Connected` publishes at once.
        self.shared.session.send_replace(Some(Arc::clone(session)));
        self.set_state(ConnectionState::Connected);
        tokio::select! {
            () = self.watch(session) => {
                warn!(link, "The connection to RabbitMQ is lost");
                metrics::connections_lost(link).inc();
                self.retire(session, Duration::ZERO).await;
            }
            () = shutdown.cancelled() => self.retire(session, CLOSE_TIMEOUT).await,
        }
    }

    async fn retire(&self, session: &Session, close_timeout: Duration) {
        self.set_state(ConnectionState::Connecting);
        self.shared.session.send_replace(None);
        session.end(close_timeout).await;
    }

    /// Returns when the session is no longer usable.
    async fn watch(&self, session: &Session) {
        let mut events = std::pin::pin!(session.events());
        while session.is_connected() {
            tokio::select! {
                // An event only triggers a check of the state.
                Some(_) = events.next() => {}
                () = session.given_up() => {}
                () = clock::sleep(CHECK_INTERVAL) => {}
            }
            if session.is_connected() {
                self.set_state(if session.is_blocked() {
                    ConnectionState::Blocked
                } else {
                    ConnectionState::Connected
                });
            }
        }
    }

    fn set_state(&self, state: ConnectionState) {
        let link = self.shared.name;
        let before = self.shared.state.send_replace(state);
        if before == state {
            return;
        }
        metrics::connection_state(link, state);
        match (before, state) {
            (_, ConnectionState::Blocked) => {
                warn!(link, "RabbitMQ accepts no messages (memory or disk alarm)");
            }
            (ConnectionState::Blocked, ConnectionState::Connected) => {
                info!(link, "RabbitMQ accepts messages again");
            }
            _ => {}
        }
    }
}

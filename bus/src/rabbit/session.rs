//! One connection to the broker, from a finished handshake to its loss.
//!
//! Opened by the link, shared by all tasks that work on it. The rule: a task that finds it unusable
//! calls `give_up`; the link then ends it and opens the next one. No state is carried over, because
//! the broker drops its own.

use super::fault::{Fault, within};
use super::settings::Settings;
use super::socket::{self, SocketGuard};
use domain::id::PoolName;
use lapin::{Channel, Connection, ConnectionProperties};
use std::collections::HashSet;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

pub(crate) struct Session {
    pub(crate) settings: Settings,
    connection: Connection,
    socket: SocketGuard,
    /// Pools whose queue was declared in this session and has not been found missing since.
    pub(super) declared: Mutex<HashSet<PoolName>>,
    given_up: CancellationToken,
    ended: CancellationToken,
}

impl Session {
    /// Connects to the host at `turn` (modulo their number); the broker lists the connection as `berth <name>`.
    pub(crate) async fn open(name: &str, settings: Settings, turn: usize) -> Result<Self, Fault> {
        let properties =
            ConnectionProperties::default().with_connection_name(format!("berth {name}").into());
        let uri = settings.uri(turn).clone();
        let tls = settings.tls()?;
        let (connection, socket) =
            socket::connect(uri, tls, properties, settings.handshake_limit).await?;
        let (given_up, ended) = (CancellationToken::new(), CancellationToken::new());
        Ok(Self { settings, connection, socket, declared: Mutex::default(), given_up, ended })
    }

    /// Connects to the first host that accepts, starting with a random one.
    pub(crate) async fn open_any(name: &str, settings: &Settings) -> Result<Self, Fault> {
        let first = settings.random_turn();
        let mut failed = Fault::NoSession;
        for turn in (0..settings.uris.len()).map(|step| first.wrapping_add(step)) {
            match Self::open(name, settings.clone(), turn).await {
                Ok(session) => return Ok(session),
                Err(fault) => failed = fault,
            }
        }
        Err(failed)
    }

    /// Opens a channel. An error on it closes only this channel.
    pub(crate) async fn channel(&self) -> Result<Channel, Fault> {
        within(self.limit(), self.connection.create_channel()).await
    }

    /// The pool's queue was found missing: the next `ensure_pool` declares it.
    pub(crate) async fn forget_pool(&self, pool: &PoolName) {
        self.declared.lock().await.remove(pool);
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.connection.status().blocked()
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connection.status().connected() && !self.given_up.is_cancelled()
    }

    /// Time limit of one await on the broker.
    pub(crate) fn limit(&self) -> Duration {
        self.settings.publish_timeout
    }

    /// Asks the link for a new session.
    pub(crate) fn give_up(&self) {
        self.given_up.cancel();
    }

    /// Gives it up when `fault` is a time-out.
    ///
    /// RabbitMQ may still execute the request: a consumer that it creates later receives messages that are never read (seen with
    /// 3.10.8, where the queue had no leader at the time of the request). Closing the channel does not remove such a consumer;
    /// the end of the connection does.
    pub(crate) fn give_up_if_silent(&self, fault: &Fault) {
        if fault.is_timed_out() {
            self.give_up();
        }
    }

    /// Waits until a task has given it up.
    pub(crate) async fn given_up(&self) {
        self.given_up.cancelled().await;
    }

    /// Waits for its end.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Events of the connection. For one listener: a second one would receive events instead of the first.
    pub(crate) fn events(&self) -> impl futures::Stream<Item = lapin::Event> + Send + 'static {
        self.connection.events_listener()
    }

    /// Ends it: closes the connection within `close_timeout`, then the socket.
    pub(crate) async fn end(&self, close_timeout: Duration) {
        self.ended.cancel();
        if self.connection.status().connected() && !close_timeout.is_zero() {
            // A broker that does not respond loses the connection with the socket.
            let _ = within(close_timeout, self.connection.close(200, "OK".into())).await;
        }
        self.socket.shut_down();
    }
}

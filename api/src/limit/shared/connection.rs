//! The connection to Redis, which is made again in the background.
//!
//! One connection per process carries all calls, each bounded in time. A connection on which answers are late is replaced: the kernel
//! would keep one to a host that is gone for minutes. In a cluster all keys are in one slot; the node that `redis.url` names redirects
//! to the node of that slot, and the connection moves there.

use super::failure::Failure;
use parking_lot::Mutex;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{
    Client, ClientTlsConfig, ConnectionAddr, ErrorKind, RedisError, Script, ServerErrorKind,
    TlsCertificates,
};
use runtime::clock::timeout;
use runtime::config::{ExposeSecret, RedisConfig};
use runtime::tls::{Identity, TlsError, Trust};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The script's own error code: buckets do not count yet.
const NOT_YET: &str = "EPOCH";

/// After this many late answers in sequence the connection is replaced.
const LATE: u32 = 5;

/// The settings of `[redis]` are not usable.
#[derive(Debug, thiserror::Error)]
pub enum NotRedis {
    /// The URL is not one of a Redis.
    #[error("redis.url is not usable")]
    Url(#[source] RedisError),
    /// A file of certificates is not usable.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Redis, where buckets are shared.
#[derive(Clone)]
pub(crate) struct Redis {
    link: Arc<Link>,
    prefix: String,
    pub(super) script: Script,
    command_timeout: Duration,
}

/// The connection, and what the next is made of.
struct Link {
    /// Each new connection reads the certificate files that it names again.
    config: RedisConfig,
    settings: ConnectionManagerConfig,
    manager: Mutex<ConnectionManager>,
    /// Late answers in sequence.
    late: AtomicU32,
}

impl Redis {
    /// Makes the first connection when it is first needed.
    pub(crate) fn open(config: &RedisConfig) -> Result<Self, NotRedis> {
        let client = client(config)?;
        // The periodic call tries again, so one try per call is enough.
        let settings = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(config.connect_timeout))
            .set_response_timeout(Some(config.command_timeout));
        let manager = ConnectionManager::new_lazy_with_config(client, settings.clone())
            .map_err(NotRedis::Url)?;
        let (manager, late) = (Mutex::new(manager), AtomicU32::new(0));
        Ok(Self {
            link: Arc::new(Link { config: config.clone(), settings, manager, late }),
            prefix: config.key_prefix.clone(),
            script: Script::new(include_str!("gcra.lua")),
            command_timeout: config.command_timeout,
        })
    }

    /// The key of `name`. The part in braces is the same in all keys: the script uses several, and in a cluster they must be on one node.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{{{}}}:{name}", self.prefix)
    }

    pub(super) fn connection(&self) -> ConnectionManager {
        self.link.manager.lock().clone()
    }

    /// The answer of a call, if it comes in time.
    pub(super) async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, Failure> {
        match timeout(self.command_timeout, call).await {
            // An answer like any other: the connection is sound.
            Ok(Err(error)) if error.code() == Some(NOT_YET) => {
                self.link.late.store(0, Ordering::Relaxed);
                Err(Failure::NotYet)
            }
            Ok(Err(error)) if !error.is_timeout() => {
                self.link.replace_after(&error);
                Err(Failure::Refused(error))
            }
            Ok(Ok(answer)) => {
                self.link.late.store(0, Ordering::Relaxed);
                Ok(answer)
            }
            Ok(Err(_)) | Err(_) => {
                self.link.was_late();
                Err(Failure::Late)
            }
        }
    }
}

impl Link {
    fn was_late(&self) {
        let late = self.late.fetch_add(1, Ordering::Relaxed) + 1;
        if late.is_multiple_of(LATE) {
            self.connect_to(None);
        }
    }

    /// Follows a cluster's redirection. After any other error goes back to the configured node: the one that a cluster named may be
    /// gone, and the manager would keep a connection that could not be made, for example for a wrong password.
    fn replace_after(&self, error: &RedisError) {
        let is_moved = error.kind() == ErrorKind::Server(ServerErrorKind::Moved);
        self.connect_to(error.redirect_node().filter(|_| is_moved).map(|(node, _)| node));
    }

    /// Replaces the connection by one to a node such as `10.0.0.1:6379`, or to the configured one.
    fn connect_to(&self, node: Option<&str>) {
        match self.connection_to(node) {
            Ok(manager) => *self.manager.lock() = manager,
            Err(error) => {
                tracing::warn!(%error, "No new connection to Redis can be set up: {error}")
            }
        }
    }

    fn connection_to(&self, node: Option<&str>) -> Result<ConnectionManager, NotRedis> {
        let mut info = client(&self.config)?.get_connection_info().clone();
        if let Some((host, port)) = node.and_then(|node| node.rsplit_once(':'))
            && let Ok(port) = port.parse()
        {
            let address = at(info.addr(), host, port);
            info = info.set_addr(address);
        }
        Client::open(info)
            .and_then(|client| {
                ConnectionManager::new_lazy_with_config(client, self.settings.clone())
            })
            .map_err(NotRedis::Url)
    }
}

fn client(config: &RedisConfig) -> Result<Client, NotRedis> {
    let url = config.url.expose_secret();
    let (certificate, key) = config.client_files();
    let identity = Identity::of(certificate, key)?;
    let is_secret = url.starts_with("rediss:");
    if !is_secret && config.ca_file.is_empty() && identity.is_none() {
        return Client::open(url).map_err(NotRedis::Url);
    }
    let trust = Trust::with(config.ca_file())?;
    // Fails where the certificate and its key do not belong together.
    trust.client(identity.as_ref())?;
    if !is_secret {
        return Client::open(url).map_err(NotRedis::Url);
    }
    let client_tls = identity.map(|identity| ClientTlsConfig {
        client_cert: identity.certificate_pem,
        client_key: identity.key_pem,
    });
    let root_cert = Some(trust.pem().into_bytes());
    Client::build_with_tls(url, TlsCertificates { client_tls, root_cert }).map_err(NotRedis::Url)
}

/// The address of another node, with the TLS settings of `known`. A node that does not know its own host is on the same host.
fn at(known: &ConnectionAddr, host: &str, port: u16) -> ConnectionAddr {
    let host_or = |known: &String| if host.is_empty() { known.clone() } else { host.to_owned() };
    match known {
        ConnectionAddr::TcpTls { host: known, insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls {
                host: host_or(known),
                port,
                insecure: *insecure,
                tls_params: tls_params.clone(),
            }
        }
        ConnectionAddr::Tcp(known, _) => ConnectionAddr::Tcp(host_or(known), port),
        _ => ConnectionAddr::Tcp(host.to_owned(), port),
    }
}

impl std::fmt::Debug for Redis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redis").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

//! The connection to Redis, which mends itself in the background.
//!
//! One connection a process carries all calls, each bounded in time. While it is broken calls fail at once or within that time. One
//! that is silent is left: a host or a network that is gone says nothing, and the kernel would believe in it for minutes. In a cluster
//! all keys are in one slot, so that one node has them all: whichever node `redis.url` names says which, and the connection moves there.

use super::away::Away;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{
    Client, ClientTlsConfig, ConnectionAddr, ErrorKind, RedisError, Script, ServerErrorKind,
    TlsCertificates,
};
use runtime::clock::timeout;
use runtime::config::{ExposeSecret, RedisConfig};
use runtime::tls::{Identity, TlsError, Trust};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// After so many late answers, and none in time between them, the connection is made anew.
const LATE: u32 = 5;

/// The settings of `[redis]` are not usable.
#[derive(Debug, thiserror::Error)]
pub enum NotRedis {
    /// The URL is none of a Redis.
    #[error("redis.url is not usable")]
    Url(#[source] RedisError),
    /// A file with certificates that cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// The shared counts.
#[derive(Clone)]
pub(crate) struct Redis {
    line: Arc<Line>,
    prefix: String,
    pub(super) lease: Script,
    pub(super) probe: Script,
    patience: Duration,
}

/// The connection, and what another is made of.
struct Line {
    /// As configured.
    client: Client,
    settings: ConnectionManagerConfig,
    present: Mutex<Present>,
    /// Late answers since the last one in time.
    late: AtomicU32,
}

struct Present {
    manager: ConnectionManager,
    /// The node of a cluster that another one named.
    node: Option<String>,
}

impl Redis {
    /// Makes the first connection when it is first needed.
    pub(crate) fn open(config: &RedisConfig) -> Result<Self, NotRedis> {
        let client = client(config)?;
        // The probe tries again by itself, so one try a call is enough.
        let settings = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(config.connect_timeout))
            .set_response_timeout(Some(config.command_timeout));
        let manager = ConnectionManager::new_lazy_with_config(client.clone(), settings.clone())
            .map_err(NotRedis::Url)?;
        let (present, late) = (Mutex::new(Present { manager, node: None }), AtomicU32::new(0));
        Ok(Self {
            line: Arc::new(Line { client, settings, present, late }),
            prefix: config.key_prefix.clone(),
            lease: Script::new(include_str!("lease.lua")),
            probe: Script::new(include_str!("probe.lua")),
            patience: config.command_timeout,
        })
    }

    /// The key of `name`. The part in braces decides which node of a cluster has it: all have the same, because scripts use several
    /// and one key of all tenants says since when buckets count.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{{{}}}:{name}", self.prefix)
    }

    /// The key that holds since when buckets count.
    pub(super) fn since_key(&self) -> String {
        self.key("since")
    }

    pub(super) fn connection(&self) -> ConnectionManager {
        self.line.present().manager.clone()
    }

    /// The answer of a call, if it comes in time.
    pub(super) async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, Away> {
        match timeout(self.patience, call).await {
            Ok(Err(error)) if !error.is_timeout() => {
                self.line.has_failed(&error);
                Err(Away::Failed(error))
            }
            Ok(Ok(answer)) => {
                self.line.late.store(0, Ordering::Relaxed);
                Ok(answer)
            }
            Ok(Err(_)) | Err(_) => {
                self.line.was_late();
                Err(Away::Late)
            }
        }
    }
}

impl Line {
    fn was_late(&self) {
        let late = self.late.fetch_add(1, Ordering::Relaxed) + 1;
        if late.is_multiple_of(LATE) {
            self.connect_to(None);
        }
    }

    /// Follows a cluster to the node that has our keys, and goes back to what is configured where a node is gone, or no primary any
    /// more. The manager mends a connection that broke; one that could not be made for another cause, such as a wrong password, it
    /// keeps for ever.
    fn has_failed(&self, error: &RedisError) {
        if error.kind() == ErrorKind::Server(ServerErrorKind::Moved) {
            let node = error.redirect_node().map(|(node, _)| node);
            // Other calls that were under way may have been told the same.
            if node.is_some() && self.present().node.as_deref() != node {
                tracing::debug!(node, "The Redis cluster keeps rate limits on another node");
                self.connect_to(node);
            }
        } else if !error.is_io_error() || self.present().node.is_some() {
            self.connect_to(None);
        }
    }

    /// Makes the connection anew, to a node such as `10.0.0.1:6379`, or to what is configured.
    fn connect_to(&self, node: Option<&str>) {
        let mut info = self.client.get_connection_info().clone();
        if let Some((host, port)) = node.and_then(|node| node.rsplit_once(':'))
            && let Ok(port) = port.parse()
        {
            let address = at(info.addr(), host, port);
            info = info.set_addr(address);
        }
        let again = Client::open(info).and_then(|client| {
            ConnectionManager::new_lazy_with_config(client, self.settings.clone())
        });
        if let Ok(manager) = again {
            *self.present() = Present { manager, node: node.map(str::to_owned) };
        }
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
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
    // Says whether the certificate and its key belong together.
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

/// The address of another node, reached as `known` is. One that does not know its own host is on the same.
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

/// As the scripts count.
pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl std::fmt::Debug for Redis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redis").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

//! `[api]`: the HTTP service and the sizes it accepts.
//!
//! Read by `api` at start-up.

use super::checks::{Checks, ms, secs};
use super::values::{address, address_if_any, duration, networks};
use crate::cores;
use crate::tls::PemFile;
use crate::turns::TurnLimits;
use ipnet::IpNet;
use serde::Deserialize;
use std::net::SocketAddr;
use std::time::Duration;

/// A credential that was taken back is refused everywhere within 2 s: this, and the time of a query.
const MAX_KEY_CACHE_TTL: Duration = Duration::from_millis(1500);

/// Settings of `[api]`; `config/default.toml` says what each means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiConfig {
    /// Address of the HTTP API; port 0 takes a free one.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// Address of the probes and metrics alone, which there need no key.
    #[serde(deserialize_with = "address_if_any")]
    pub metrics_listen: Option<SocketAddr>,
    /// File of the server's certificate; empty: plain HTTP.
    pub tls_cert_file: String,
    /// File of its key; empty: none.
    pub tls_key_file: String,
    /// HTTP worker threads; 0: see [`Self::http_workers`].
    pub workers: usize,
    /// Largest body of one task, bytes.
    pub max_task_bytes: usize,
    /// Largest body of a batch, bytes.
    pub max_batch_bytes: usize,
    /// Tasks in one batch.
    pub max_batch_tasks: usize,
    /// Bytes of bodies and answers of all tenants in memory.
    pub max_request_memory: usize,
    /// Bytes of bodies and answers of one tenant in memory.
    pub max_tenant_request_memory: usize,
    /// How long a client may take nothing of an answer.
    #[serde(deserialize_with = "duration")]
    pub write_timeout: Duration,
    /// Grouped inserts in flight.
    pub submit_writers: usize,
    /// Life of a cached API key.
    #[serde(deserialize_with = "duration")]
    pub key_cache_ttl: Duration,
    /// Time for open requests after SIGTERM.
    #[serde(deserialize_with = "duration")]
    pub shutdown_grace: Duration,
    /// Longest request.
    #[serde(deserialize_with = "duration")]
    pub request_timeout: Duration,
    /// Live streams open at once in one process.
    pub max_streams: usize,
    /// Live streams one tenant may have open at once in one process.
    pub max_tenant_streams: usize,
    /// Pieces of work of one tenant that keep processors busy at once; 0: see [`Self::computing_turns`].
    pub tenant_computing: usize,
    /// Requests of one tenant that may wait for such work.
    pub tenant_computing_waiting: usize,
    /// How long each of them may wait.
    #[serde(deserialize_with = "duration")]
    pub tenant_computing_wait: Duration,
    /// Whose X-Forwarded-For is believed.
    #[serde(deserialize_with = "networks")]
    pub trusted_proxies: Vec<IpNet>,
    /// Longest silence on a live stream.
    #[serde(deserialize_with = "duration")]
    pub stream_keep_alive: Duration,
    /// Requests a second from one address; 0: no limit.
    pub peer_requests_per_second: u32,
    /// Requests from one address that may come at once.
    pub peer_request_burst: u32,
    /// Whether everybody may read the status of the service.
    pub public_status: bool,
}

impl ApiConfig {
    /// Certificate and key of the server.
    #[must_use]
    pub fn tls_files(&self) -> (PemFile<'_>, PemFile<'_>) {
        let file = |setting, path| PemFile { setting, path };
        (
            file("api.tls_cert_file", &self.tls_cert_file),
            file("api.tls_key_file", &self.tls_key_file),
        )
    }

    /// How many threads read requests and answer them: `workers`, or half as many as the machine has cores, at least one. What takes
    /// long, they do not do.
    #[must_use]
    pub fn http_workers(&self) -> usize {
        match self.workers {
            0 => cores::half(),
            workers => workers,
        }
    }

    /// How much work that keeps processors busy one tenant may have at once: `tenant_computing`, or as much as there are HTTP threads, half
    /// of what all tenants together may.
    #[must_use]
    pub fn computing_turns(&self) -> TurnLimits {
        let at_once = match self.tenant_computing {
            0 => self.http_workers(),
            set => set,
        };
        let (waiting, wait) = (self.tenant_computing_waiting, self.tenant_computing_wait);
        TurnLimits { at_once, waiting, wait }
    }

    pub(super) fn check(&self, checks: &mut Checks) {
        checks.number("api.workers", self.workers, 0..=256);
        // What is larger may not fit into one message to its executor (`protocol::MAX_MESSAGE_BYTES`), and would never run.
        checks.number("api.max_task_bytes", self.max_task_bytes, 1024..=4_000_000);
        checks.number("api.max_batch_bytes", self.max_batch_bytes, 1024..=268_435_456);
        checks.rule(
            "api.max_batch_bytes",
            self.max_batch_bytes >= self.max_task_bytes,
            "must be at least `api.max_task_bytes`, or a batch of one is refused; raise it",
        );
        checks.number("api.max_batch_tasks", self.max_batch_tasks, 1..=10_000);
        let most = 1 << 40;
        let share = self.max_tenant_request_memory;
        checks.number("api.max_tenant_request_memory", share, 1_048_576..=most);
        checks.rule(
            "api.max_tenant_request_memory",
            share >= self.max_batch_bytes,
            "must be at least `api.max_batch_bytes`, or no batch of that size is taken; raise it",
        );
        checks.number("api.max_request_memory", self.max_request_memory, share..=most);
        checks.duration("api.write_timeout", self.write_timeout, secs(1)..=secs(600));
        checks.number("api.submit_writers", self.submit_writers, 1..=64);
        checks.duration("api.key_cache_ttl", self.key_cache_ttl, secs(0)..=MAX_KEY_CACHE_TTL);
        checks.duration("api.shutdown_grace", self.shutdown_grace, secs(0)..=secs(600));
        checks.duration("api.request_timeout", self.request_timeout, secs(1)..=secs(600));
        checks.number("api.max_streams", self.max_streams, 1..=100_000);
        checks.number("api.max_tenant_streams", self.max_tenant_streams, 1..=self.max_streams);
        checks.number("api.tenant_computing", self.tenant_computing, 0..=512);
        let waiting = self.tenant_computing_waiting;
        checks.number("api.tenant_computing_waiting", waiting, 0..=10_000);
        checks.duration("api.tenant_computing_wait", self.tenant_computing_wait, ms(10)..=secs(60));
        checks.duration("api.stream_keep_alive", self.stream_keep_alive, secs(1)..=secs(300));
        checks.number("api.peer_requests_per_second", self.peer_requests_per_second, 0..=1_000_000);
        checks.number("api.peer_request_burst", self.peer_request_burst, 1..=10_000_000);
    }
}

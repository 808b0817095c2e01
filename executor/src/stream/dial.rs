//! Connects to one of the configured resource managers, each in turn.
//!
//! Any of them will do: the session travels with the executor. A pause between failures, spread by
//! chance, keeps a thousand executors from returning in the same millisecond.

use runtime::backoff::Backoff;
use runtime::clock;
use runtime::tls::{PemFile, TlsError, Trust};
use std::time::Duration;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// A peer that is silently gone is noticed after this and the same again.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// Bytes of assignments that may be under way; HTTP/2's own default of 64 KiB is less than one task.
const WINDOW: u32 = 2 * 1024 * 1024;
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Why no connection came about.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The address cannot be used at all.
    #[error("`{address}` is not an address of a resource manager")]
    Address {
        /// As configured.
        address: String,
        /// What is wrong with it.
        #[source]
        source: tonic::transport::Error,
    },
    /// `executor.ca_file` is not usable.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// `executor.resource_managers` is empty.
    #[error("no resource manager is configured")]
    None,
    /// Nobody answered there.
    #[error("cannot connect to {address}")]
    Connect {
        /// As configured.
        address: String,
        /// Why.
        #[source]
        source: tonic::transport::Error,
    },
}

#[derive(Debug)]
pub(crate) struct Dialer {
    endpoints: Vec<(String, Endpoint)>,
    /// Setting and file of the CAs for `https://` addresses; each connection reads it again.
    ca_file: (&'static str, String),
    next: usize,
    backoff: Backoff,
}

impl Dialer {
    /// Starts at one of the configured addresses by chance.
    pub(crate) fn new(addresses: &[String], ca_file: PemFile<'_>) -> Result<Self, DialError> {
        Trust::with(ca_file)?;
        let endpoints = addresses
            .iter()
            .map(|address| {
                let endpoint = Endpoint::from_shared(address.clone())
                    .map_err(|source| DialError::Address { address: address.clone(), source })?;
                let endpoint = endpoint
                    .connect_timeout(CONNECT_TIMEOUT)
                    .tcp_nodelay(true)
                    .http2_keep_alive_interval(KEEP_ALIVE)
                    .keep_alive_timeout(KEEP_ALIVE)
                    .keep_alive_while_idle(true)
                    .initial_stream_window_size(WINDOW)
                    .initial_connection_window_size(WINDOW);
                Ok((address.clone(), endpoint))
            })
            .collect::<Result<Vec<_>, DialError>>()?;
        if endpoints.is_empty() {
            return Err(DialError::None);
        }
        let next = rand::random_range(0..endpoints.len());
        Ok(Self {
            endpoints,
            ca_file: (ca_file.setting, ca_file.path.to_owned()),
            next,
            backoff: Backoff::new(PAUSE_MIN, PAUSE_MAX),
        })
    }

    /// Time to wait after a failure.
    pub(crate) fn pause(&mut self) -> Duration {
        self.backoff.pause()
    }

    /// Things went well for a while.
    pub(crate) fn reset(&mut self) {
        self.backoff.reset();
    }

    /// One try at the next address, after `pause`.
    pub(crate) fn dial(
        &mut self,
        pause: Duration,
    ) -> impl Future<Output = Result<(Channel, String), DialError>> + Send + 'static {
        let (address, endpoint) = self.endpoints[self.next % self.endpoints.len()].clone();
        self.next = self.next.wrapping_add(1);
        let (setting, path) = self.ca_file.clone();
        async move {
            clock::sleep(pause).await;
            let endpoint = if address.starts_with("https:") {
                let trust = Trust::with(PemFile { setting, path: &path })?;
                let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(trust.pem()));
                let refused = |source| DialError::Address { address: address.clone(), source };
                endpoint.tls_config(tls).map_err(refused)?
            } else {
                endpoint
            };
            match endpoint.connect().await {
                Ok(channel) => Ok((channel, address)),
                Err(source) => Err(DialError::Connect { address, source }),
            }
        }
    }
}

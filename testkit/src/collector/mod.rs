//! An OpenTelemetry collector that remembers what it was sent.
//!
//! Called by tests of the export. A real OTLP server on a real socket, over gRPC or HTTP, with TLS or without: only what it does with
//! the data is simpler.

mod grpc;
mod http;
mod received;

pub use received::{Line, Received, Span};

use crate::authority::Issued;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// A collector that runs.
#[derive(Debug, Clone)]
pub struct Collector {
    address: SocketAddr,
    is_secret: bool,
    received: Arc<Mutex<Received>>,
}

impl Collector {
    /// Starts one for gRPC on a free port; it runs as long as tokio does.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub async fn start() -> anyhow::Result<Self> {
        let (this, listener) = Self::listen(false).await?;
        grpc::serve(&this, listener, None)?;
        Ok(this)
    }

    /// The same with TLS.
    ///
    /// # Errors
    /// When the certificate cannot be used, too.
    pub async fn start_secret(identity: &Issued) -> anyhow::Result<Self> {
        let (this, listener) = Self::listen(true).await?;
        grpc::serve(&this, listener, Some(identity))?;
        Ok(this)
    }

    /// Starts one for HTTP, with TLS where it has a certificate.
    ///
    /// # Errors
    /// When no port can be listened on, or the certificate cannot be used.
    pub async fn start_http(identity: Option<&Issued>) -> anyhow::Result<Self> {
        let (this, listener) = Self::listen(identity.is_some()).await?;
        http::serve(&this, listener, identity)?;
        Ok(this)
    }

    async fn listen(is_secret: bool) -> anyhow::Result<(Self, TcpListener)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        Ok((Self { address, is_secret, received: Arc::default() }, listener))
    }

    /// For `telemetry.otlp_endpoint`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("{}://{}", if self.is_secret { "https" } else { "http" }, self.address)
    }

    /// What came so far.
    #[must_use]
    pub fn received(&self) -> Received {
        self.received.lock().clone()
    }

    fn note(&self, authorization: Option<&str>, export: String, more: impl FnOnce(&mut Received)) {
        let mut received = self.received.lock();
        received.exports.push(export);
        received.authorizations.extend(authorization.map(str::to_owned));
        more(&mut received);
    }
}

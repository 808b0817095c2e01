//! Starts a collector: over gRPC or HTTP, with TLS or without.

use super::state::Collector;
use super::{grpc, http};
use crate::authority::Issued;
use std::sync::Arc;
use tokio::net::TcpListener;

impl Collector {
    /// Starts one for gRPC on a free port; it runs as long as tokio does.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub async fn start() -> anyhow::Result<Self> {
        let (this, listener) = listen(false).await?;
        grpc::serve(&this, listener, None)?;
        Ok(this)
    }

    /// The same with TLS.
    ///
    /// # Errors
    /// When the certificate cannot be used, too.
    pub async fn start_secret(identity: &Issued) -> anyhow::Result<Self> {
        let (this, listener) = listen(true).await?;
        grpc::serve(&this, listener, Some(identity))?;
        Ok(this)
    }

    /// Starts one for HTTP, with TLS where it has a certificate.
    ///
    /// # Errors
    /// When no port can be listened on, or the certificate cannot be used.
    pub async fn start_http(identity: Option<&Issued>) -> anyhow::Result<Self> {
        let (this, listener) = listen(identity.is_some()).await?;
        http::serve(&this, listener, identity)?;
        Ok(this)
    }
}

async fn listen(is_secret: bool) -> anyhow::Result<(Collector, TcpListener)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    Ok((Collector { address, is_secret, received: Arc::default() }, listener))
}

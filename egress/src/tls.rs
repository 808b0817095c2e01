//! TLS to other servers: rustls on ring, certificates always verified.
//!
//! Trusted are the machine's own roots (`SSL_CERT_FILE` and `SSL_CERT_DIR` may name others), or Mozilla's where it
//! has none. They are read once, when the first `https` URL is called.

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Makes connections secret.
#[derive(Debug, Default)]
pub(super) struct Tls {
    config: OnceCell<Arc<ClientConfig>>,
}

impl Tls {
    /// Trusts whom a test wants.
    #[cfg(test)]
    pub(super) fn trusting(config: ClientConfig) -> Self {
        Self { config: OnceCell::new_with(Some(Arc::new(config))) }
    }

    /// Speaks TLS over `stream` with `host`, whose certificate must be good for it.
    pub(super) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let read = || async { spawn_blocking(config).await.map_err(io::Error::other)? };
        let config = self.config.get_or_try_init(read).await?;
        // Certificates name hosts without the root's dot, and addresses without brackets.
        let name = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
        let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        TlsConnector::from(Arc::clone(config)).connect(name, stream).await
    }
}

fn config() -> io::Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        tracing::warn!(%error, "Some root certificates of this machine cannot be read: {error}");
    }
    roots.add_parsable_certificates(system.certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

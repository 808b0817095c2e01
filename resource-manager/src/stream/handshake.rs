//! TLS on the executor port, where a certificate is configured.
//!
//! Handshakes of several connections run at the same time, and the time limit of a connection's first call covers its
//! handshake. One that fails closes its connection and no other.

use super::connections::{Connection, Guest};
use crate::metrics::CONNECTIONS_CLOSED;
use futures::{Stream, StreamExt, future};
use runtime::tls::{ServerTls, TlsError};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

/// How connections are accepted: with a TLS handshake, or as they are.
#[derive(Clone)]
pub(crate) struct Handshake(Option<TlsAcceptor>);

/// A connection after its handshake.
pub(crate) enum Ready {
    Plain(Box<Connection>),
    Tls(Box<TlsStream<Connection>>),
}

impl Handshake {
    /// With the certificate of `tls`; plain text without.
    ///
    /// # Errors
    /// When this build cannot do TLS.
    pub(crate) fn new(tls: Option<&ServerTls>) -> Result<Self, TlsError> {
        let config = tls.map(|tls| tls.config(&["h2"])).transpose()?;
        Ok(Self(config.map(|config| TlsAcceptor::from(Arc::new(config)))))
    }

    /// `connections`, each after its handshake, in any order. `most` handshakes run at the same time: the limit of
    /// connections, so that silent ones cannot delay others.
    pub(crate) fn perform(
        self,
        most: usize,
        connections: impl Stream<Item = io::Result<Connection>>,
    ) -> impl Stream<Item = io::Result<Ready>> {
        let ready = connections.map(move |connection| {
            let acceptor = self.0.clone();
            async move {
                match (connection, acceptor) {
                    (Err(error), _) => Some(Err(error)),
                    (Ok(connection), None) => Some(Ok(Ready::Plain(Box::new(connection)))),
                    (Ok(connection), Some(acceptor)) => accept(acceptor, connection).await.map(Ok),
                }
            }
        });
        ready.buffer_unordered(most).filter_map(future::ready)
    }
}

async fn accept(acceptor: TlsAcceptor, connection: Connection) -> Option<Ready> {
    match acceptor.accept(connection).await {
        Ok(stream) => Some(Ready::Tls(Box::new(stream))),
        // Already counted as silent.
        Err(error) if error.kind() == io::ErrorKind::TimedOut => None,
        Err(error) => {
            CONNECTIONS_CLOSED.with(&["handshake"]).inc();
            tracing::debug!(%error, "A TLS handshake on the executor port failed: {error}");
            None
        }
    }
}

impl Connected for Ready {
    type ConnectInfo = Guest;

    fn connect_info(&self) -> Guest {
        match self {
            Self::Plain(connection) => connection.connect_info(),
            Self::Tls(stream) => stream.get_ref().0.connect_info(),
        }
    }
}

impl AsyncRead for Ready {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Ready {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, from),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, from),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, from),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(context, from),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

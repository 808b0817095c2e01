//! Opens the TCP (or TLS) stream of a connection, and keeps a second handle on its socket.
//!
//! Used by the session. lapin's thread waits for ever on a peer that accepts and then sends nothing,
//! and a dropped connection waits for a close that never comes. Shutting the socket down from outside
//! always ends both, so that an outage leaks neither threads nor sockets.

use super::fault::{Fault, within};
use lapin::tcp::{AMQPUriTcpExt, RustlsConnector, TLSConfig};
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{AsyncTcpStream, Connection, ConnectionProperties};
use parking_lot::Mutex;
use rustls::ClientConfig;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

type SecondHandle = Arc<Mutex<Option<TcpStream>>>;

/// Ends the connection when dropped. Both sides see the end of the stream.
#[derive(Default)]
pub(crate) struct SocketGuard(SecondHandle);

impl SocketGuard {
    /// Ends the connection now.
    pub(crate) fn shut_down(&self) {
        if let Some(socket) = self.0.lock().take() {
            // It fails when the peer closed it first.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for SocketGuard {
    fn drop(&mut self) {
        self.shut_down();
    }
}

fn hold(socket: &impl AsFd, handle: &SecondHandle) -> io::Result<()> {
    let second = socket.as_fd().try_clone_to_owned()?;
    *handle.lock() = Some(TcpStream::from(second));
    Ok(())
}

/// Connects, with TLS if `tls` is given, and performs the AMQP handshake; `limit` is for each of the two.
pub(crate) async fn connect(
    uri: AMQPUri,
    tls: Option<Arc<ClientConfig>>,
    properties: ConnectionProperties,
    limit: Duration,
) -> Result<(Connection, SocketGuard), Fault> {
    let has_no_certificate =
        tls.as_ref().is_some_and(|tls| !tls.client_auth_cert_resolver.has_certs());
    let guard = SocketGuard::default();
    // lapin keeps this closure, so it must not hold the guard itself.
    let handle = Arc::clone(&guard.0);
    let reactor = lapin::runtime::default_runtime()?;
    let opener = reactor.clone();
    let open = async move |uri: AMQPUri, _| {
        // lapin's own TLS trusts Mozilla's roots only.
        let plain = AMQPUri { scheme: AMQPScheme::AMQP, ..uri.clone() };
        let connector = tls.clone().map(RustlsConnector::from);
        let work = async {
            let stream = plain.connect_with_config_async(TLSConfig::default(), &opener).await?;
            match &connector {
                Some(connector) => stream.into_rustls(connector, &uri.authority.host).await,
                None => Ok(stream),
            }
        };
        let stream = runtime::clock::timeout(limit, work)
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        match &stream {
            AsyncTcpStream::Plain(tcp) => hold(tcp.get_ref(), &handle)?,
            AsyncTcpStream::Rustls(tls) => hold(tls.get_ref().0.get_ref(), &handle)?,
            _ => {}
        }
        Ok(stream)
    };
    let work = Connection::connector(uri, reactor, open, properties);
    let connection = within(limit * 2, work).await;
    let connection = connection.map_err(|fault| {
        if has_no_certificate { fault.without_client_certificate() } else { fault }
    })?;
    Ok((connection, guard))
}

//! Names and connections: the only place of this driver that reaches the network.
//!
//! A trait so that tests can say what a name means, and see every connection that is asked for. The real one asks the
//! system and connects to nothing but a [`CheckedAddress`].

use domain::target::CheckedAddress;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Most names looked up at once. The system's lookup holds a thread, which commands need too.
const LOOKUPS: usize = 64;

pub(crate) trait Network: Send + Sync + 'static {
    /// What `host` means now.
    fn resolve(
        &self,
        host: &str,
        port: u16,
    ) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send;

    /// A connection to exactly this address.
    fn connect(&self, to: CheckedAddress) -> impl Future<Output = io::Result<TcpStream>> + Send;
}

/// The system's resolver and its own connections.
#[derive(Debug)]
pub(crate) struct Direct {
    lookups: Arc<Semaphore>,
}

impl Default for Direct {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(LOOKUPS)) }
    }
}

impl Network for Direct {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let lookups = Arc::clone(&self.lookups);
        let permit = lookups.acquire_owned().await.map_err(io::Error::other)?;
        let name = (host.to_owned(), port);
        let found = spawn_blocking(move || {
            // Held by the thread: giving up waiting for it must not let more of them begin.
            let _permit = permit;
            name.to_socket_addrs().map(Iterator::collect)
        });
        found.await.map_err(io::Error::other)?
    }

    async fn connect(&self, to: CheckedAddress) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(to.get()).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

//! The proxy's front: listens, switches modes, counts.
//!
//! The rule: dropping a `Proxy` ends its listener and every connection, so that a test leaves no port behind.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection;
use super::mode::Mode;

/// A running proxy in front of one address.
pub struct Proxy {
    address: SocketAddr,
    mode: watch::Sender<Mode>,
    accepted: Arc<AtomicU64>,
    // Aborts everything when dropped.
    _tasks: JoinSet<()>,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1 and forwards to `upstream` (`host:port`). Starts in [`Mode::Pass`].
    pub async fn start(upstream: impl Into<String>) -> anyhow::Result<Self> {
        let upstream = upstream.into();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (mode, watched) = watch::channel(Mode::Pass);
        let accepted = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        let counter = Arc::clone(&accepted);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                // Ended connections are taken off the set, or it would grow with every one.
                while connections.try_join_next().is_some() {}
                if let Ok((client, _)) = listener.accept().await {
                    counter.fetch_add(1, Ordering::Relaxed);
                    connections.spawn(connection::serve(client, upstream.clone(), watched.clone()));
                }
            }
        });
        Ok(Self { address, mode, accepted, _tasks: tasks })
    }

    /// Where clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `url` with its host and port replaced by the proxy's.
    pub fn url(&self, url: &str) -> anyhow::Result<String> {
        let mut parsed = url::Url::parse(url)?;
        parsed.set_host(Some(&self.address.ip().to_string()))?;
        parsed
            .set_port(Some(self.address.port()))
            .map_err(|()| anyhow::anyhow!("`{url}` cannot have a port"))?;
        Ok(parsed.into())
    }

    /// Switches the mode; acts at once.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// Connections accepted so far.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

//! Names and connections: the only place of this driver that reaches the network.
//!
//! A trait so that tests can say what a name means, and see every connection that is asked for. The real one asks the
//! name servers and connects to nothing but a [`CheckedAddress`].

use super::names::Names;
use super::turns::{Turn, Turns};
use domain::id::TenantId;
use domain::target::CheckedAddress;
use runtime::config::ExecutorConfig;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpStream;

pub(crate) trait Network: Send + Sync + 'static {
    /// The right to look a name up for `tenant`; waits until it is its turn.
    fn turn(&self, tenant: TenantId) -> impl Future<Output = Turn> + Send;

    /// What `host` means now.
    fn resolve(
        &self,
        turn: Turn,
        host: &str,
        port: u16,
    ) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send;

    /// A connection to exactly this address.
    fn connect(&self, to: CheckedAddress) -> impl Future<Output = io::Result<TcpStream>> + Send;
}

/// The name servers of this machine and its own connections.
#[derive(Debug)]
pub(crate) struct Direct {
    turns: Turns,
    names: Names,
}

impl Direct {
    pub(crate) fn new(config: &ExecutorConfig) -> Self {
        let [most, share] = [config.max_lookups, config.max_lookups_per_tenant]
            .map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        Self {
            turns: Turns::new(most, share),
            names: Names::new(config.name_servers.clone(), config.lookup_timeout, most),
        }
    }
}

#[cfg(test)]
impl Default for Direct {
    fn default() -> Self {
        let limit = std::time::Duration::from_secs(5);
        Self { turns: Turns::new(64, 16), names: Names::new(Vec::new(), limit, 64) }
    }
}

impl Network for Direct {
    async fn turn(&self, tenant: TenantId) -> Turn {
        self.turns.turn(tenant).await
    }

    async fn resolve(&self, turn: Turn, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let found = self.names.addresses(host).await;
        drop(turn);
        Ok(found?.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    async fn connect(&self, to: CheckedAddress) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(to.get()).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

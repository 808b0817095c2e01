//! Names and connections: the only place of this crate that reaches the network.
//!
//! A trait so that tests can say what a name means, and see every connection that is asked for. The real one asks the
//! name servers and connects to nothing but a [`CheckedAddress`].

use super::names::Names;
use super::turns::{Turn, Turns};
use domain::id::TenantId;
use domain::target::CheckedAddress;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;

pub(super) trait Network: Send + Sync + 'static {
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

/// How host names are looked up.
#[derive(Debug, Clone)]
pub struct Lookups {
    /// Who is asked; the system's name servers where there are none.
    pub name_servers: Vec<SocketAddr>,
    /// The longest that one lookup may take.
    pub timeout: Duration,
    /// Most lookups at once.
    pub most: usize,
    /// Of these, most for one tenant; at least 1.
    pub most_per_tenant: usize,
}

/// The name servers of this machine and its own connections.
#[derive(Debug)]
pub(super) struct Direct {
    turns: Turns,
    names: Names,
}

impl Direct {
    pub(super) fn new(lookups: &Lookups) -> Self {
        let Lookups { name_servers, timeout, most, most_per_tenant } = lookups;
        Self {
            turns: Turns::new(*most, *most_per_tenant),
            names: Names::new(name_servers.clone(), *timeout, *most),
        }
    }
}

#[cfg(test)]
impl Default for Direct {
    fn default() -> Self {
        let timeout = Duration::from_secs(5);
        Self::new(&Lookups { name_servers: Vec::new(), timeout, most: 64, most_per_tenant: 16 })
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

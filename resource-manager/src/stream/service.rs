//! What every stream needs.

use crate::fleet::Fleet;
use crate::heartbeat::Beat;
use crate::output::OutputQueue;
use crate::settle::Reported;
use domain::id::{NodeId, PoolName};
use runtime::config::SecretString;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use store::connect::RmDb;
use tokio::sync::mpsc;

/// Serves the executor stream; see `accept`.
#[derive(Clone)]
pub(crate) struct StreamService {
    pub db: RmDb,
    pub node: NodeId,
    pub fleet: Fleet,
    pub secret: Arc<SecretString>,
    pub lease_term: Duration,
    pub kill_grace: Duration,
    pub beats: mpsc::Sender<Beat>,
    pub reported: mpsc::Sender<Vec<Reported>>,
    pub output: OutputQueue,
    pub pools: mpsc::UnboundedSender<PoolName>,
    pub tasks: TaskGroup,
    pub shutdown: Shutdown,
    pub streams: Arc<AtomicU64>,
}

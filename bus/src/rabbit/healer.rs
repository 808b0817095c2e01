//! Replaces a hint queue that no longer responds.
//!
//! Called by the publisher with the outcomes of each call. A quorum queue can come back from a
//! broker's crash without a leader, permanently (seen with 3.10.8: a queue declared less than a second
//! before the broker was killed): every publish to it and every consume on it times out. The rule:
//! after a call that timed out the queue is probed on a new connection, and only if it times out
//! there, too, it is deleted and declared again. Its hints are lost, and the sweep returns their
//! tasks. The publisher's connection is replaced in both cases.

use super::fault::{Fault, within};
use super::session::Session;
use super::settings::Settings;
use super::topology;
use crate::metrics;
use crate::outcome::PublishOutcome;
use domain::id::PoolName;
use lapin::options::{BasicGetOptions, QueueDeleteOptions};
use parking_lot::{Mutex, MutexGuard};
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tracing::warn;

/// A healthy queue responds within milliseconds, on a busy machine within tens of milliseconds.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// RabbitMQ tries for 5 s to reach the queue's leader before it deletes by force.
const DELETE_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub(crate) struct Healer {
    tasks: TaskGroup,
    shutdown: Shutdown,
    /// Pools whose queue is being probed or replaced.
    in_progress: Arc<Mutex<HashSet<PoolName>>>,
}

impl Healer {
    pub(crate) fn new(tasks: TaskGroup, shutdown: Shutdown) -> Self {
        Self { tasks, shutdown, in_progress: Arc::default() }
    }

    /// Receives the outcomes of a call; if all are time-outs, probes the queue in the background.
    pub(crate) fn note(
        &self,
        session: &Arc<Session>,
        pool: &PoolName,
        outcomes: &[PublishOutcome],
    ) {
        let silent = outcomes.iter().all(|outcome| *outcome == PublishOutcome::TimedOut);
        // While the broker is blocked, time-outs say nothing about the queue.
        if outcomes.is_empty() || !silent || session.is_blocked() {
            return;
        }
        if self.lock().insert(pool.clone()) {
            self.start(Arc::clone(session), pool.clone());
        }
    }

    fn start(&self, session: Arc<Session>, pool: PoolName) {
        let healer = self.clone();
        self.tasks.spawn("bus-healer", async move {
            let healed = tokio::select! {
                healed = replace(&session.settings, &pool) => healed,
                () = healer.shutdown.cancelled() => Ok(()),
            };
            if let Err(fault) = healed {
                let cause = ErrorChain(&fault).to_string();
                warn!(%pool, cause, "The hint queue of pool `{pool}` does not respond and could not be replaced: {cause}");
            }
            // In both cases nothing that waits on this connection will complete.
            session.give_up();
            healer.lock().remove(&pool);
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<PoolName>> {
        self.in_progress.lock()
    }
}

/// Deletes the pool's queue and declares it again, unless it responds on a new connection.
///
/// Each step has its own connection. The publisher's may be the fault, RabbitMQ stops reading from a connection whose messages a
/// queue does not accept, and deleting a queue by force can end connections that wait for it.
async fn replace(settings: &Settings, pool: &PoolName) -> Result<(), Fault> {
    let open = || Session::open_any("heal", settings);
    if responds(&open().await?, pool).await? {
        return Ok(());
    }
    warn!(%pool, "The hint queue of pool `{pool}` does not respond and is deleted and declared again");
    let session = open().await?;
    let channel = session.channel().await?;
    let queue = topology::hint_queue(&settings.prefix, pool);
    let work = channel.queue_delete(queue.into(), QueueDeleteOptions::default());
    within(DELETE_TIMEOUT, work).await?;
    topology::declare_pool(&open().await?, pool).await?;
    metrics::queues_replaced(pool.as_str()).inc();
    Ok(())
}

/// Gets a message from the queue; it is requeued as the connection ends.
async fn responds(session: &Session, pool: &PoolName) -> Result<bool, Fault> {
    let channel = session.channel().await?;
    let queue = topology::hint_queue(&session.settings.prefix, pool);
    let work = channel.basic_get(queue.into(), BasicGetOptions::default());
    match within(PROBE_TIMEOUT, work).await {
        Ok(_) => Ok(true),
        Err(Fault::TimedOut(_)) => Ok(false),
        Err(fault) if fault.is_not_found() => Ok(true),
        Err(fault) => Err(fault),
    }
}

//! Replaces a hint queue that has fallen silent.
//!
//! Told by the publisher how each call ended. A quorum queue can come back from a broker's crash
//! without a leader, for good (seen with 3.10.8: a queue declared less than a second before the
//! broker was killed): every publish to it and every consume on it times out. The rule: where a
//! call has run out of time the queue is asked on a new connection, and only where it is silent there,
//! too, it is deleted and declared again. Its hints are lost and swept up, like any others. The
//! publisher's connection is made anew either way.

use super::fault::{Fault, within};
use super::session::Session;
use super::settings::Settings;
use super::topology;
use crate::metrics;
use crate::outcome::PublishOutcome;
use domain::id::PoolName;
use lapin::options::{BasicGetOptions, QueueDeleteOptions};
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::warn;

/// A queue that is well answers within milliseconds, on a busy machine within some tens.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// RabbitMQ tries 5 s long to reach the queue's leader before it deletes by force.
const DELETE_LIMIT: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub(crate) struct Healer {
    tasks: TaskGroup,
    shutdown: Shutdown,
    /// Pools whose queue is being asked or replaced.
    looked_at: Arc<Mutex<HashSet<PoolName>>>,
}

impl Healer {
    pub(crate) fn new(tasks: TaskGroup, shutdown: Shutdown) -> Self {
        Self { tasks, shutdown, looked_at: Arc::default() }
    }

    /// Notes how a call ended; heals in the background where nothing of it was answered in time.
    pub(crate) fn note(
        &self,
        session: &Arc<Session>,
        pool: &PoolName,
        outcomes: &[PublishOutcome],
    ) {
        let silent = outcomes.iter().all(|outcome| *outcome == PublishOutcome::TimedOut);
        // A broker that takes no messages says so, and its queues are well.
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
                warn!(%pool, cause, "The silent hint queue of pool `{pool}` could not be replaced: {cause}");
            }
            // Whichever of the two it was, what waits on this connection waits in vain.
            session.give_up();
            healer.lock().remove(&pool);
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<PoolName>> {
        self.looked_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Deletes the pool's queue and declares it again, unless it answers on a connection of its own.
///
/// Each step has a fresh connection. That of the publisher may be what is wrong, and RabbitMQ stops reading from one whose messages
/// a queue does not take; and what waits for a queue that is deleted by force can end its connection.
async fn replace(settings: &Settings, pool: &PoolName) -> Result<(), Fault> {
    let open = || Session::open_any("heal", settings);
    if answers(&open().await?, pool).await? {
        return Ok(());
    }
    warn!(%pool, "The hint queue of pool `{pool}` has fallen silent and is deleted and declared again");
    let session = open().await?;
    let channel = session.channel().await?;
    let queue = topology::hint_queue(&settings.prefix, pool);
    let work = channel.queue_delete(queue.into(), QueueDeleteOptions::default());
    within(DELETE_LIMIT, work).await?;
    topology::declare_pool(&open().await?, pool).await?;
    metrics::queues_replaced(pool.as_str()).inc();
    Ok(())
}

/// Asks the queue itself for a message, which goes back to it as the connection ends.
async fn answers(session: &Session, pool: &PoolName) -> Result<bool, Fault> {
    let channel = session.channel().await?;
    let queue = topology::hint_queue(&session.settings.prefix, pool);
    let work = channel.basic_get(queue.into(), BasicGetOptions::default());
    match within(ANSWER_LIMIT, work).await {
        Ok(_) => Ok(true),
        Err(Fault::TimedOut(_)) => Ok(false),
        Err(fault) if fault.is_not_found() => Ok(true),
        Err(fault) => Err(fault),
    }
}

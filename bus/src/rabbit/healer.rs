//! Replaces a hint queue that has fallen silent.
//!
//! Told by the publisher how each call ended. A quorum queue can come back from a broker's crash
//! without a leader, for good (seen with 3.10.8: a queue declared less than a second before the
//! broker was killed): every publish to it and every consume on it times out. The rule: only after a
//! while, and only where it is silent on a new connection, too, the queue is deleted and declared
//! again. Its hints are lost and swept up, like any others. The publisher's connection is made anew
//! either way.

use super::fault::{Fault, within};
use super::session::Session;
use super::settings::Settings;
use super::topology;
use crate::metrics;
use crate::outcome::PublishOutcome;
use domain::id::PoolName;
use lapin::options::{BasicGetOptions, QueueDeleteOptions};
use runtime::clock::Instant;
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::warn;

/// RabbitMQ tries 5 s long to reach the queue's leader before it deletes by force.
const DELETE_LIMIT: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub(crate) struct Healer {
    tasks: TaskGroup,
    shutdown: Shutdown,
    silent: Arc<Mutex<HashMap<PoolName, Silence>>>,
}

#[derive(Debug, Clone, Copy)]
enum Silence {
    Since(Instant),
    BeingReplaced,
}

impl Healer {
    pub(crate) fn new(tasks: TaskGroup, shutdown: Shutdown) -> Self {
        Self { tasks, shutdown, silent: Arc::default() }
    }

    /// Notes how a call ended that began at `began`; heals in the background when it has been enough.
    pub(crate) fn note(
        &self,
        session: &Arc<Session>,
        pool: &PoolName,
        began: Instant,
        outcomes: &[PublishOutcome],
    ) {
        if outcomes.is_empty() {
            return;
        }
        let answered = outcomes.iter().any(|outcome| *outcome != PublishOutcome::TimedOut);
        let mut silent = self.lock();
        match silent.entry(pool.clone()) {
            Entry::Occupied(known) if answered => {
                if matches!(known.get(), Silence::Since(_)) {
                    known.remove();
                }
            }
            Entry::Occupied(mut known) => {
                let Silence::Since(since) = *known.get() else { return };
                if since.elapsed() >= session.limit() * 2 {
                    known.insert(Silence::BeingReplaced);
                    self.start(Arc::clone(session), pool.clone());
                }
            }
            Entry::Vacant(_) if answered => {}
            Entry::Vacant(unknown) => {
                unknown.insert(Silence::Since(began));
            }
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

    fn lock(&self) -> MutexGuard<'_, HashMap<PoolName, Silence>> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Deletes the pool's queue and declares it again, unless it answers on a connection of its own.
///
/// Each step has a fresh connection. That of the publisher may be what is wrong, and RabbitMQ stops reading from one whose messages
/// a queue does not take; and what waits for a queue that is deleted by force can end its connection.
async fn replace(settings: &Settings, pool: &PoolName) -> Result<(), Fault> {
    let open = || Session::open("heal", settings.clone());
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
    match within(session.limit(), work).await {
        Ok(_) => Ok(true),
        Err(Fault::TimedOut(_)) => Ok(false),
        Err(fault) if fault.is_not_found() => Ok(true),
        Err(fault) => Err(fault),
    }
}

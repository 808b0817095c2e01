//! Replaces a hint queue that has fallen silent.
//!
//! Told by the publisher how each call ended. A quorum queue can come back from a broker's crash
//! without a leader, for good (seen with 3.10.8: a queue declared less than a second before the
//! broker was killed): every publish to it and every consume on it times out. The rule: only on a
//! connection that answers otherwise, and only after a while, the queue is deleted and declared
//! again. Its hints are lost and swept up, like any others.

use super::fault::{Fault, within};
use super::session::Session;
use super::topology;
use crate::metrics;
use crate::outcome::PublishOutcome;
use domain::id::PoolName;
use lapin::options::QueueDeleteOptions;
use runtime::clock::{self, Instant};
use runtime::error_chain::ErrorChain;
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
    silent: Arc<Mutex<HashMap<PoolName, Silence>>>,
}

#[derive(Debug, Clone, Copy)]
enum Silence {
    Since(Instant),
    BeingReplaced,
}

impl Healer {
    pub(crate) fn new(tasks: TaskGroup) -> Self {
        Self { tasks, silent: Arc::default() }
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
                healed = replace(&session, &pool) => healed,
                () = session.ended() => Ok(()),
            };
            if let Err(fault) = healed {
                let cause = ErrorChain(&fault).to_string();
                warn!(%pool, cause, "The silent hint queue of pool `{pool}` could not be replaced: {cause}");
                session.give_up();
            }
            healer.lock().remove(&pool);
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PoolName, Silence>> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn replace(session: &Session, pool: &PoolName) -> Result<(), Fault> {
    // A connection that cannot even open a channel is what is wrong, and the queue may be well.
    let channel = session.channel().await?;
    warn!(%pool, "The hint queue of pool `{pool}` has fallen silent and is deleted and declared again");
    metrics::queues_replaced(pool.as_str()).inc();
    let queue = topology::hint_queue(&session.settings.prefix, pool);
    let work = channel.queue_delete(queue.into(), QueueDeleteOptions::default());
    within(DELETE_LIMIT, work).await?;
    session.forget_pool(pool).await;
    session.ensure_pool(pool).await?;
    // The queue is there; whether the channel closes cleanly changes nothing.
    let _ = clock::timeout(session.limit(), channel.close(200, "OK".into())).await;
    Ok(())
}

//! The bus of a process that holds all roles: queues and wake-ups in memory.
//!
//! Used by the embedded profile. Nothing survives the process, and nothing needs to: rows are the
//! truth, and the sweep of the next start finds what was queued.

use super::consumer::Consumer;
use super::queue::PoolQueue;
use crate::hint::HintBatch;
use crate::outcome::PublishOutcome;
use crate::topic::Topic;
use crate::wakeups::{Listeners, Raised};
use domain::id::PoolName;
use parking_lot::Mutex;
use runtime::clock;
use runtime::shutdown::Shutdown;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

const SWEEP_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Debug, Clone)]
pub(crate) struct InProcess {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ttl: Duration,
    max_length: usize,
    pools: Mutex<HashMap<PoolName, Arc<PoolQueue>>>,
    listeners: Listeners,
}

impl InProcess {
    pub(crate) fn new(ttl: Duration, max_length: u32) -> Self {
        let max_length = usize::try_from(max_length).unwrap_or(usize::MAX);
        let (pools, listeners) = (Mutex::default(), Listeners::default());
        Self { shared: Arc::new(Shared { ttl, max_length, pools, listeners }) }
    }

    pub(crate) fn publish(&self, pool: &PoolName, batches: Vec<HintBatch>) -> Vec<PublishOutcome> {
        let outcomes = vec![PublishOutcome::Confirmed; batches.len()];
        self.queue(pool).push(batches, clock::monotonic());
        outcomes
    }

    pub(crate) fn consume(&self, pool: &PoolName, prefetch: u16) -> Consumer {
        Consumer {
            pool: pool.clone(),
            queue: self.queue(pool),
            prefetch: usize::from(prefetch),
            open: Arc::default(),
            paused: false.into(),
        }
    }

    pub(crate) fn wake(&self, topic: Topic) {
        self.shared.listeners.raise(topic);
    }

    pub(crate) fn listen(&self, topics: Vec<Topic>, raised: &Arc<Raised>) {
        self.shared.listeners.add(topics, raised);
    }

    /// Drops and counts expired messages until the process ends.
    pub(crate) async fn sweep(self, shutdown: Shutdown) {
        while shutdown.sleep(SWEEP_INTERVAL).await {
            let queues: Vec<_> = self.pools().values().cloned().collect();
            for queue in queues {
                queue.sweep(clock::monotonic());
            }
        }
    }

    fn queue(&self, pool: &PoolName) -> Arc<PoolQueue> {
        let fresh =
            || Arc::new(PoolQueue::new(pool.clone(), self.shared.ttl, self.shared.max_length));
        Arc::clone(self.pools().entry(pool.clone()).or_insert_with(fresh))
    }

    fn pools(&self) -> parking_lot::MutexGuard<'_, HashMap<PoolName, Arc<PoolQueue>>> {
        self.shared.pools.lock()
    }
}

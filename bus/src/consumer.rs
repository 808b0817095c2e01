//! The reading end of a pool's hint queue.
//!
//! Held by a resource manager, one per pool. The rule: pause it while the resource manager's executors
//! have no room in the pool, so that hints go to another one; prefetched messages are requeued.

use crate::delivery::Delivery;
use crate::in_process;
use crate::inbox::{Inbox, Wish};
use runtime::shutdown::Shutdown;
use std::sync::Arc;

/// Receives a pool's hints. Survives lost connections and deleted queues. Dropping it unsubscribes;
/// deliveries that it returned can still be acked.
pub struct HintConsumer {
    source: Source,
    shutdown: Shutdown,
}

pub(crate) enum Source {
    Rabbit(Arc<Inbox>),
    InProcess(in_process::Consumer),
}

impl HintConsumer {
    pub(crate) fn new(source: Source, shutdown: Shutdown) -> Self {
        Self { source, shutdown }
    }

    /// The next message; `None` when the bus was shut down. Waits while paused, while there is
    /// nothing, and while the broker is away. Cancel-safe.
    pub async fn next(&mut self) -> Option<Delivery> {
        let next = async {
            match &self.source {
                Source::Rabbit(inbox) => inbox.next().await,
                Source::InProcess(consumer) => consumer.next().await,
            }
        };
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => None,
            delivery = next => Some(delivery),
        }
    }

    /// The next message if one has been prefetched: to fill a batch after `next`.
    pub fn try_next(&mut self) -> Option<Delivery> {
        match &self.source {
            Source::Rabbit(inbox) => inbox.try_next(),
            Source::InProcess(consumer) => consumer.try_next(),
        }
    }

    /// Stops consuming. From now on `next` returns nothing, and prefetched messages are requeued.
    /// Earlier deliveries stay valid. Each requeue counts towards the broker's limit of 20 per
    /// message.
    pub fn pause(&self) {
        match &self.source {
            Source::Rabbit(inbox) => inbox.set_wish(Wish::Pause),
            Source::InProcess(consumer) => consumer.pause(),
        }
    }

    /// Consumes again.
    pub fn resume(&self) {
        match &self.source {
            Source::Rabbit(inbox) => inbox.set_wish(Wish::Consume),
            Source::InProcess(consumer) => consumer.resume(),
        }
    }
}

impl Drop for HintConsumer {
    fn drop(&mut self) {
        if let Source::Rabbit(inbox) = &self.source {
            inbox.set_wish(Wish::Stop);
        }
    }
}

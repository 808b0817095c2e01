//! Consumes one pool's queue in memory.
//!
//! The rule: nothing is prefetched. A message leaves the queue when `next` returns it, at most
//! `prefetch` are not settled at a time, and so `pause` has nothing to requeue.

use super::queue::{Message, PoolQueue};
use crate::delivery::{Delivery, Settle};
use crate::metrics;
use domain::id::PoolName;
use runtime::clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[derive(Debug)]
pub(crate) struct Consumer {
    pub(super) pool: PoolName,
    pub(super) queue: Arc<PoolQueue>,
    pub(super) prefetch: usize,
    pub(super) open: Arc<AtomicUsize>,
    pub(super) paused: AtomicBool,
}

impl Consumer {
    pub(crate) fn try_next(&self) -> Option<Delivery> {
        let full = self.open.load(Ordering::Acquire) >= self.prefetch;
        if full || self.paused.load(Ordering::Acquire) {
            return None;
        }
        let message = self.queue.pop(clock::monotonic())?;
        self.open.fetch_add(1, Ordering::AcqRel);
        let redelivered = message.requeues > 0;
        metrics::delivered(self.pool.as_str(), message.batch.hints.len(), redelivered);
        let batch = message.batch.clone();
        let held = Held { queue: Arc::clone(&self.queue), open: Arc::clone(&self.open), message };
        Some(Delivery::new(batch, redelivered, Box::new(held)))
    }

    pub(crate) async fn next(&self) -> Delivery {
        loop {
            let mut changed = std::pin::pin!(self.queue.changed.notified());
            // From here on no change is missed: check, then wait.
            changed.as_mut().enable();
            if let Some(delivery) = self.try_next() {
                return delivery;
            }
            changed.await;
        }
    }

    pub(crate) fn pause(&self) {
        self.paused.store(true, Ordering::Release);
    }

    pub(crate) fn resume(&self) {
        self.paused.store(false, Ordering::Release);
        self.queue.changed.notify_waiters();
    }
}

struct Held {
    queue: Arc<PoolQueue>,
    open: Arc<AtomicUsize>,
    message: Message,
}

impl Settle for Held {
    fn ack(self: Box<Self>) {
        self.open.fetch_sub(1, Ordering::AcqRel);
        self.queue.changed.notify_waiters();
    }

    fn requeue(self: Box<Self>) {
        self.open.fetch_sub(1, Ordering::AcqRel);
        self.queue.requeue(self.message);
    }
}

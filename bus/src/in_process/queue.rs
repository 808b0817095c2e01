//! One pool's hint queue in memory, with the broker's rules: a time to live, a length limit, a
//! limit on requeues.
//!
//! Used by the in-process bus. The rule: callers see the behaviour of the RabbitMQ queue, so that one
//! test suite runs on both.

use crate::hint::HintBatch;
use crate::metrics;
use domain::id::PoolName;
use parking_lot::{Mutex, MutexGuard};
use runtime::clock::Instant;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::Notify;

/// The broker's names of these reasons.
const EXPIRED: &str = "expired";
const TOO_MANY: &str = "maxlen";
const DELIVERED_TOO_OFTEN: &str = "delivery_limit";
const DELIVERY_LIMIT: u32 = 20;

#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) batch: HintBatch,
    pub(super) requeues: u32,
    expires: Instant,
}

#[derive(Debug)]
pub(super) struct PoolQueue {
    pool: PoolName,
    ttl: Duration,
    max_length: usize,
    messages: Mutex<VecDeque<Message>>,
    /// Notified when a message may have become available.
    pub(super) changed: Notify,
}

impl PoolQueue {
    pub(super) fn new(pool: PoolName, ttl: Duration, max_length: usize) -> Self {
        Self { pool, ttl, max_length, messages: Mutex::default(), changed: Notify::new() }
    }

    /// Appends batches; above `max_length` the oldest messages are dropped.
    pub(super) fn push(&self, batches: Vec<HintBatch>, now: Instant) {
        {
            let mut messages = self.lock();
            self.drop_expired(&mut messages, now);
            let fresh = |batch| Message { batch, requeues: 0, expires: now + self.ttl };
            messages.extend(batches.into_iter().map(fresh));
            while messages.len() > self.max_length {
                let Some(oldest) = messages.pop_front() else { break };
                self.count_dead(&oldest, TOO_MANY);
            }
        }
        self.changed.notify_waiters();
    }

    /// Removes the oldest message that has not expired.
    pub(super) fn pop(&self, now: Instant) -> Option<Message> {
        let mut messages = self.lock();
        self.drop_expired(&mut messages, now);
        messages.pop_front()
    }

    /// Requeues a message at the front.
    pub(super) fn requeue(&self, mut message: Message) {
        message.requeues += 1;
        if message.requeues > DELIVERY_LIMIT {
            self.count_dead(&message, DELIVERED_TOO_OFTEN);
        } else {
            self.lock().push_front(message);
        }
        self.changed.notify_waiters();
    }

    /// Drops expired messages, which RabbitMQ does by itself.
    pub(super) fn sweep(&self, now: Instant) {
        self.drop_expired(&mut self.lock(), now);
    }

    fn drop_expired(&self, messages: &mut VecDeque<Message>, now: Instant) {
        while messages.front().is_some_and(|oldest| oldest.expires <= now) {
            let Some(oldest) = messages.pop_front() else { break };
            self.count_dead(&oldest, EXPIRED);
        }
    }

    fn count_dead(&self, message: &Message, reason: &str) {
        metrics::dead(reason, self.pool.as_str()).inc_by(message.batch.hints.len() as u64);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Message>> {
        self.messages.lock()
    }
}

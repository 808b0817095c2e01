//! One pool's hint queue in memory, with the broker's rules: a time to live, a length limit, a
//! limit on returns.
//!
//! Used by the in-process bus. The rule: it behaves like the RabbitMQ queue wherever a caller can
//! see it, so that one test-suite runs on both.

use crate::hint::HintBatch;
use crate::metrics;
use domain::id::PoolName;
use runtime::clock::Instant;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// What the broker calls these causes of death.
const EXPIRED: &str = "expired";
const TOO_MANY: &str = "maxlen";
const RETURNED_TOO_OFTEN: &str = "delivery_limit";
const DELIVERY_LIMIT: u32 = 20;

#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) batch: HintBatch,
    pub(super) returns: u32,
    expires: Instant,
}

#[derive(Debug)]
pub(super) struct PoolQueue {
    pool: PoolName,
    ttl: Duration,
    max_length: usize,
    messages: Mutex<VecDeque<Message>>,
    /// Told to all waiters whenever something may have come within their reach.
    pub(super) changed: Notify,
}

impl PoolQueue {
    pub(super) fn new(pool: PoolName, ttl: Duration, max_length: usize) -> Self {
        Self { pool, ttl, max_length, messages: Mutex::default(), changed: Notify::new() }
    }

    /// Takes batches in at the back; what no longer fits is dropped from the front.
    pub(super) fn push(&self, batches: Vec<HintBatch>, now: Instant) {
        {
            let mut messages = self.lock();
            self.bury_expired(&mut messages, now);
            let fresh = |batch| Message { batch, returns: 0, expires: now + self.ttl };
            messages.extend(batches.into_iter().map(fresh));
            while messages.len() > self.max_length {
                let Some(oldest) = messages.pop_front() else { break };
                self.bury(&oldest, TOO_MANY);
            }
        }
        self.changed.notify_waiters();
    }

    /// The oldest message that is still alive.
    pub(super) fn pop(&self, now: Instant) -> Option<Message> {
        let mut messages = self.lock();
        self.bury_expired(&mut messages, now);
        messages.pop_front()
    }

    /// Takes a message back at the front.
    pub(super) fn put_back(&self, mut message: Message) {
        message.returns += 1;
        if message.returns > DELIVERY_LIMIT {
            self.bury(&message, RETURNED_TOO_OFTEN);
        } else {
            self.lock().push_front(message);
        }
        self.changed.notify_waiters();
    }

    /// Buries what has expired; RabbitMQ does so by itself.
    pub(super) fn sweep(&self, now: Instant) {
        self.bury_expired(&mut self.lock(), now);
    }

    fn bury_expired(&self, messages: &mut VecDeque<Message>, now: Instant) {
        while messages.front().is_some_and(|oldest| oldest.expires <= now) {
            let Some(oldest) = messages.pop_front() else { break };
            self.bury(&oldest, EXPIRED);
        }
    }

    fn bury(&self, message: &Message, reason: &str) {
        metrics::dead(reason, self.pool.as_str()).inc_by(message.batch.hints.len() as u64);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Message>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! A batch of hints that was delivered to a resource manager.
//!
//! The rule: ack it after the placement has committed, never before, and never wait for the run.
//! A delivery that is dropped without an ack is requeued, so that another resource manager receives the hints of a failed or
//! panicking tick at once.

use crate::hint::HintBatch;
use std::fmt;

/// Ends a delivery at its queue. Called once.
pub(crate) trait Settle: Send {
    /// Removes it from the queue.
    fn ack(self: Box<Self>);
    /// Puts it back.
    fn requeue(self: Box<Self>);
}

/// One message from a pool's hint queue.
#[must_use = "a delivery that is dropped goes back to its queue"]
pub struct Delivery {
    batch: HintBatch,
    redelivered: bool,
    settle: Option<Box<dyn Settle>>,
}

impl Delivery {
    pub(crate) fn new(batch: HintBatch, redelivered: bool, settle: Box<dyn Settle>) -> Self {
        Self { batch, redelivered, settle: Some(settle) }
    }

    /// Its hints.
    #[must_use]
    pub fn batch(&self) -> &HintBatch {
        &self.batch
    }

    /// True for a redelivery: its tasks may already be placed.
    #[must_use]
    pub fn redelivered(&self) -> bool {
        self.redelivered
    }

    /// Removes it from the queue. Returns at once; acks that are pending at the same time are one AMQP frame.
    ///
    /// If the connection it came on is gone the broker will deliver it again: that is counted
    /// (`berth_bus_late_acks_total`) and harmless, because its tasks are placed and a claim is stale.
    pub fn ack(mut self) {
        if let Some(settle) = self.settle.take() {
            settle.ack();
        }
    }

    /// Puts it back for another consumer; the same as dropping it.
    ///
    /// Not for want of room: the broker drops a message after 20 returns. Give the tasks back to
    /// `ready` and ack instead.
    pub fn requeue(self) {
        drop(self);
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(settle) = self.settle.take() {
            settle.requeue();
        }
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("hints", &self.batch.hints.len())
            .field("redelivered", &self.redelivered)
            .finish_non_exhaustive()
    }
}

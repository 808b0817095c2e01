//! The driver that does nothing, for a while: for measuring everything around it.
//!
//! All sleeping attempts share one heap and the agent's one timer; one that sleeps for no time touches
//! neither. It has to be cheap enough that a measurement with it measures the rest of Berth.

use protocol::LeaseKey;
use runtime::clock::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Sleeping attempts by when they wake.
#[derive(Debug, Default)]
pub(crate) struct Sleepers {
    heap: BinaryHeap<Reverse<(Instant, LeaseKey)>>,
}

impl Sleepers {
    pub(crate) fn add(&mut self, wakes: Instant, lease: LeaseKey) {
        self.heap.push(Reverse((wakes, lease)));
    }

    /// When the next one wakes.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((wakes, _))| *wakes)
    }

    /// One that has woken by now. It may have been stopped meanwhile: the caller knows.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<LeaseKey> {
        let due = self.next_wake().is_some_and(|wakes| wakes <= now);
        due.then(|| self.heap.pop().map(|Reverse((_, lease))| lease)).flatten()
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }
}

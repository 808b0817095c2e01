//! Attempts that do nothing until a time.
//!
//! They share one heap and the agent's one timer, so that a measurement with them measures the rest of Berth.
use domain::task::LeaseKey;
use runtime::clock::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Sleeping attempts by when they wake.
#[derive(Debug, Default)]
pub(super) struct Sleepers {
    heap: BinaryHeap<Reverse<(Instant, LeaseKey)>>,
}

impl Sleepers {
    pub(super) fn add(&mut self, wakes: Instant, lease: LeaseKey) {
        self.heap.push(Reverse((wakes, lease)));
    }

    /// When the next one wakes.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((wakes, _))| *wakes)
    }

    /// One that has woken by now. It may have been stopped meanwhile: the caller knows.
    pub(super) fn pop(&mut self, now: Instant) -> Option<LeaseKey> {
        let due = self.next_wake().is_some_and(|wakes| wakes <= now);
        due.then(|| self.heap.pop().map(|Reverse((_, lease))| lease)).flatten()
    }

    pub(super) fn clear(&mut self) {
        self.heap.clear();
    }
}

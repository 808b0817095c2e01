//! What Redis granted to a submission that may be gone by now.
//!
//! A call to Redis continues if its client disconnects; else what was reported with it would be lost. What it admitted is then unused.

use super::decision::Decision;

/// A decision whose tasks are given back when it is dropped.
pub(super) struct Unclaimed<F: Fn(u64)> {
    decision: Decision,
    give_back: F,
}

impl<F: Fn(u64)> Unclaimed<F> {
    pub(super) fn new(decision: Decision, give_back: F) -> Self {
        Self { decision, give_back }
    }

    /// The submission is there and has it.
    pub(super) fn claim(mut self) -> Decision {
        let decision = self.decision;
        self.decision.admitted = 0;
        decision
    }
}

impl<F: Fn(u64)> Drop for Unclaimed<F> {
    fn drop(&mut self) {
        (self.give_back)(self.decision.admitted);
    }
}

//! What was stored that somebody is to be woken for.

use bus::{Bus, Topic};
use domain::task::State;
use store::task::submit::SubmitAnswer;

/// How many tasks of a group are work for whom.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    /// May start now.
    ready: usize,
    /// Are due before those who look for them by themselves would see them.
    soon: usize,
}

impl Work {
    pub(crate) fn of(answers: &[SubmitAnswer]) -> Self {
        let mut work = Self::default();
        for answer in answers {
            if let SubmitAnswer::Created(created) = answer {
                work.ready += usize::from(created.state == State::Ready);
                work.soon += usize::from(created.is_due_soon());
            }
        }
        work
    }

    /// To be called after the commit.
    pub(crate) fn wake(self, bus: &Bus) {
        if self.ready > 0 {
            bus.wake_for(Topic::Batcher, self.ready);
        }
        if self.soon > 0 {
            bus.wake_for(Topic::ShardOwner, self.soon);
        }
    }
}

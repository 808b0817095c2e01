//! What was stored that somebody is to be woken for.

use bus::{Bus, Topic};
use domain::task::State;
use store::task::submit::SubmitAnswer;

/// What a group of stored tasks is work for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    /// Some may start now.
    ready: bool,
    /// Some are due before the scheduler's next poll.
    soon: bool,
}

impl Work {
    pub(crate) fn of<'a>(answers: impl IntoIterator<Item = &'a SubmitAnswer>) -> Self {
        let mut work = Self::default();
        for answer in answers {
            if let SubmitAnswer::Created(created) = answer {
                work.ready |= created.state == State::Ready;
                work.soon |= created.is_due_soon();
            }
        }
        work
    }

    /// To be called after the commit.
    pub(crate) fn wake(self, bus: &Bus) {
        if self.ready {
            bus.wake(Topic::Batcher);
        }
        if self.soon {
            bus.wake(Topic::ShardOwner);
        }
    }
}

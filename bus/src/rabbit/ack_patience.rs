//! Whether the broker is told of acks at once, or later together with others.
//!
//! Asked by `receiving`. A quorum queue takes an ack as it takes a message, through its log and to the disk. The rule: an ack waits only
//! where work comes in numbers, so a lone hint costs nobody a wait; and never so long, nor with so many, that the broker has
//! no room to hand out more. Whoever dies meanwhile leaves hints of placed tasks behind; they come again, and their claims are stale.

use super::ack_window::Settlement;
use runtime::clock::Instant;
use std::time::Duration;

/// A message of as many hints comes where work comes in numbers. Where lone tasks wait for each other's acks, the broker is a fifth
/// cheaper, and none of them starts sooner (docs/performance.md).
const MANY: usize = 16;
/// The longest that an ack waits.
const LONGEST: Duration = Duration::from_millis(50);
/// Of the messages that may be on hand, one part in so many may have ended and wait.
const PART: usize = 2;

/// What became of one message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled {
    pub(super) tag: u64,
    pub(super) settlement: Settlement,
    pub(super) hints: usize,
}

/// The acks of one channel that wait.
#[derive(Debug)]
pub(super) struct Patience {
    enough: usize,
    waiting: usize,
    until: Option<Instant>,
}

impl Patience {
    /// Where at most `prefetch` messages are on hand.
    pub(super) fn with_prefetch(prefetch: u16) -> Self {
        Self { enough: usize::from(prefetch) / PART, waiting: 0, until: None }
    }

    /// One more is settled.
    pub(super) fn settled(&mut self, now: Instant, settled: &Settled) {
        self.waiting += 1;
        // What goes back is for others, who wait for it.
        let may_wait = settled.settlement == Settlement::Ack && settled.hints >= MANY;
        let until = if may_wait && self.waiting < self.enough { now + LONGEST } else { now };
        self.until = Some(self.until.map_or(until, |before| before.min(until)));
    }

    /// When the broker must be told; `None`: it knows all.
    pub(super) const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// The broker is told of all.
    pub(super) const fn told(&mut self) {
        (self.waiting, self.until) = (0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::clock::monotonic;

    const MS: Duration = Duration::from_millis(1);

    fn of(settlement: Settlement, hints: usize) -> Settled {
        Settled { tag: 1, settlement, hints }
    }

    #[test]
    fn few_hints_and_what_goes_back_wait_for_nobody_nor_does_who_waited_before() {
        let now = monotonic();
        for next in [of(Settlement::Ack, MANY - 1), of(Settlement::Requeue, MANY)] {
            let mut patience = Patience::with_prefetch(8);
            patience.settled(now, &of(Settlement::Ack, MANY));
            patience.settled(now + MS, &next);
            assert_eq!(patience.until(), Some(now + MS), "{next:?}");
        }
    }

    #[test]
    fn many_wait_no_longer_than_the_first_of_them_may() {
        let now = monotonic();
        let mut patience = Patience::with_prefetch(8);
        assert_eq!(patience.until(), None);
        for later in 0..3 {
            patience.settled(now + MS * later, &of(Settlement::Ack, MANY));
            assert_eq!(patience.until(), Some(now + LONGEST));
        }
        patience.told();
        assert_eq!(patience.until(), None);
    }

    #[test]
    fn half_of_what_may_be_on_hand_is_enough() {
        let now = monotonic();
        for (prefetch, enough) in [(1, 1), (2, 1), (3, 1), (8, 4), (1000, 500)] {
            let mut patience = Patience::with_prefetch(prefetch);
            let mut acks = 0;
            while patience.until() != Some(now) {
                acks += 1;
                patience.settled(now, &of(Settlement::Ack, MANY));
            }
            assert_eq!(acks, enough, "of {prefetch}");
        }
    }
}

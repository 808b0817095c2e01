//! Which messages go without a confirm of their own, and which confirm answers for them.
//!
//! Used by the confirming task, one per session. A lone hint's confirm costs as much as the hint: the broker makes it at the very moment
//! in which it hands the hint on, and it wakes two threads here. So where lone messages come one after the other most of them are sent
//! on a channel that confirms nothing, and the next confirm on the same connection answers for them: the broker reads
//! a connection in order, and says on that channel itself what it could not route. The rule: at most [`MOST`] messages
//! and [`PATIENCE`] pass without asking for a confirm, so that a broker that hears nothing is found out as soon as ever.

use runtime::clock::Instant;
use std::time::Duration;

/// So long after a confirm was asked for messages go without.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);
/// So many messages in a row go without.
pub(super) const MOST: usize = 8;

#[derive(Default)]
pub(super) struct Cover {
    /// When a confirm was asked for last.
    asked: Option<Instant>,
    /// Messages without one since.
    since: usize,
    /// Numbers of those that no confirm has answered for, in the order in which they were sent.
    open: Vec<u64>,
}

impl Cover {
    /// True where message `number`, a lone one, may go without a confirm; then the next one answers for it.
    pub(super) fn takes(&mut self, number: u64, now: Instant) -> bool {
        let takes = self.since < MOST && self.asked.is_some_and(|asked| now < asked + PATIENCE);
        if takes {
            self.since += 1;
            self.open.push(number);
        }
        takes
    }

    /// A confirm is asked for now.
    pub(super) fn ask(&mut self, now: Instant) {
        (self.asked, self.since) = (Some(now), 0);
    }

    /// When a confirm must be asked for even though no message comes.
    pub(super) fn due(&self) -> Option<Instant> {
        self.asked.filter(|_| self.since > 0).map(|asked| asked + PATIENCE)
    }

    /// Message `number` is answered: those that were sent before it.
    pub(super) fn answered(&mut self, number: u64) -> Vec<u64> {
        let later = self.open.split_off(self.open.partition_point(|open| *open < number));
        std::mem::replace(&mut self.open, later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn the_first_message_asks_and_one_in_nine_from_then_on() {
        let (mut cover, now) = (Cover::default(), runtime::clock::monotonic());
        let asks: Vec<u64> = (0..30)
            .filter(|number| {
                let asks = !cover.takes(*number, now);
                if asks {
                    cover.ask(now);
                }
                asks
            })
            .collect();
        assert_eq!(asks, [0, 9, 18, 27]);
    }

    #[test]
    fn after_a_while_the_next_message_asks() {
        let (mut cover, now) = (Cover::default(), runtime::clock::monotonic());
        cover.ask(now);
        assert!(cover.takes(1, now + PATIENCE - MILLI));
        assert!(!cover.takes(2, now + PATIENCE));
    }

    #[test]
    fn what_went_without_is_asked_for_though_no_message_comes() {
        let (mut cover, now) = (Cover::default(), runtime::clock::monotonic());
        assert_eq!(cover.due(), None);
        cover.ask(now);
        assert_eq!(cover.due(), None, "nothing went without");
        cover.takes(1, now + MILLI);
        assert_eq!(cover.due(), Some(now + PATIENCE));
        cover.ask(now + PATIENCE);
        assert_eq!(cover.due(), None, "it was asked for");
    }

    #[test]
    fn a_confirm_answers_for_what_was_sent_before_it_and_for_nothing_twice() {
        let (mut cover, now) = (Cover::default(), runtime::clock::monotonic());
        cover.ask(now);
        for number in [1, 2, 4, 5] {
            assert!(cover.takes(number, now));
        }
        assert_eq!(cover.answered(3), [1, 2]);
        assert!(cover.answered(3).is_empty());
        assert_eq!(cover.answered(9), [4, 5]);
    }
}

//! Heartbeats: when the next is due, and which answer belongs to which sending.

use runtime::clock::Instant;
use std::collections::VecDeque;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Heart {
    due: Instant,
    number: u64,
    /// Sent on the present stream and not answered, oldest first.
    unanswered: VecDeque<(u64, Instant)>,
}

impl Heart {
    pub(super) const fn new(now: Instant) -> Self {
        Self { due: now, number: 0, unanswered: VecDeque::new() }
    }

    /// A new stream: numbers start again, and the first beat is due.
    pub(super) fn restart(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    /// Something changed that the resource manager must know.
    pub(super) fn hasten(&mut self, now: Instant) {
        self.due = self.due.min(now);
    }

    pub(super) const fn due(&self) -> Instant {
        self.due
    }

    /// A beat is sent now; its number. `now` was read before anything of it is sent.
    pub(super) fn beat(&mut self, now: Instant, every: Duration) -> u64 {
        self.number += 1;
        self.unanswered.push_back((self.number, now));
        self.due = now + every;
        self.number
    }

    /// When the beat with this number was sent. It and all before it are settled.
    pub(super) fn answered(&mut self, number: u64) -> Option<Instant> {
        let mut sent = None;
        while let Some(&(first, at)) = self.unanswered.front() {
            if first > number {
                break;
            }
            sent = (first == number).then_some(at);
            self.unanswered.pop_front();
        }
        sent
    }

    /// When the oldest unanswered beat was sent.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        self.unanswered.front().map(|(_, sent)| *sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::clock;

    #[test]
    fn an_answer_confirms_the_sending_it_names() {
        let start = clock::monotonic();
        let second = Duration::from_secs(1);
        let mut heart = Heart::new(start);
        let numbers: Vec<_> = (0..3).map(|n| heart.beat(start + second * n, second)).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(heart.waiting_since(), Some(start));
        assert_eq!(heart.answered(2), Some(start + second));
        assert_eq!(heart.answered(2), None);
        assert_eq!(heart.waiting_since(), Some(start + second * 2));
        assert_eq!(heart.answered(9), None);
        assert_eq!(heart.waiting_since(), None);
    }
}

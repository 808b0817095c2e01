//! Published messages without an outcome, and the calls they belong to.
//!
//! Pure bookkeeping of the publisher, one per session. The rule: each job is answered exactly once,
//! with one outcome per message, at the latest at its deadline. Messages carry their number as
//! `message_id`, because lapin returns a message with *some* confirm, not with its own.

use crate::outcome::PublishOutcome;
use std::collections::{BTreeMap, HashSet};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The messages of one `publish` call.
pub(crate) struct Job {
    pub(crate) queue: String,
    pub(crate) bodies: Vec<Vec<u8>>,
    pub(crate) deadline: Instant,
    pub(crate) reply: oneshot::Sender<Vec<PublishOutcome>>,
}

struct Waiting {
    outcomes: Vec<Option<PublishOutcome>>,
    missing: usize,
    deadline: Instant,
    reply: oneshot::Sender<Vec<PublishOutcome>>,
}

/// How a message's own confirm ended, not counting returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrokerReply {
    Ack,
    Nack,
    Lost,
}

#[derive(Default)]
pub(crate) struct InFlight {
    next: u64,
    /// Key: the number of a job's first message.
    jobs: BTreeMap<u64, Waiting>,
    /// Were returned; their own confirm is outstanding.
    returned: HashSet<u64>,
}

impl InFlight {
    /// Adds a job of `count` messages; returns the number of the first. An empty job is answered at once.
    pub(crate) fn admit(
        &mut self,
        count: usize,
        deadline: Instant,
        reply: oneshot::Sender<Vec<PublishOutcome>>,
    ) -> u64 {
        let first = self.next;
        if count == 0 {
            // It fails when the caller has stopped waiting.
            let _ = reply.send(Vec::new());
            return first;
        }
        self.next += count as u64;
        let outcomes = vec![None; count];
        self.jobs.insert(first, Waiting { outcomes, missing: count, deadline, reply });
        first
    }

    /// True while the message has no outcome and its job is open.
    pub(crate) fn is_waiting(&self, number: u64) -> bool {
        self.jobs.range(..=number).next_back().is_some_and(|(first, job)| {
            matches!(
                usize::try_from(number - first).map(|place| job.outcomes.get(place)),
                Ok(Some(None))
            )
        })
    }

    /// A message was returned. False if it had an outcome before.
    pub(crate) fn returned(&mut self, number: u64) -> bool {
        self.is_waiting(number) && self.returned.insert(number)
    }

    /// A message's confirm ended. Its outcome, or `None` if it had one before.
    pub(crate) fn answered(&mut self, number: u64, answer: BrokerReply) -> Option<PublishOutcome> {
        let outcome = match (self.returned.remove(&number), answer) {
            (true, _) => PublishOutcome::Returned,
            (false, BrokerReply::Ack) => PublishOutcome::Confirmed,
            (false, BrokerReply::Nack) => PublishOutcome::Nacked,
            (false, BrokerReply::Lost) => PublishOutcome::ConnectionLost,
        };
        let (first, job) = self.jobs.range_mut(..=number).next_back()?;
        let slot = job.outcomes.get_mut(usize::try_from(number - first).ok()?)?;
        if slot.is_some() {
            return None;
        }
        *slot = Some(outcome);
        job.missing -= 1;
        if job.missing == 0 {
            let first = *first;
            self.finish(first, outcome);
        }
        Some(outcome)
    }

    /// The earliest deadline of all open jobs.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.jobs.values().map(|job| job.deadline).min()
    }

    /// Answers the jobs whose deadline has passed; returns the number of their messages without a confirm.
    pub(crate) fn expire(&mut self, now: Instant) -> usize {
        // Jobs are few (one per caller), and not in the order of their deadlines.
        let due: Vec<u64> = self
            .jobs
            .iter()
            .filter(|(_, job)| job.deadline <= now)
            .map(|(first, _)| *first)
            .collect();
        due.into_iter().map(|first| self.finish(first, PublishOutcome::TimedOut)).sum()
    }

    /// The session has ended: answers all jobs; returns the number of their messages without a confirm.
    pub(crate) fn lose_all(&mut self) -> usize {
        let all: Vec<u64> = self.jobs.keys().copied().collect();
        all.into_iter().map(|first| self.finish(first, PublishOutcome::ConnectionLost)).sum()
    }

    /// Answers a job, with `rest` for messages without an outcome; returns the number of those.
    fn finish(&mut self, first: u64, rest: PublishOutcome) -> usize {
        let Some(job) = self.jobs.remove(&first) else { return 0 };
        let outcomes: Vec<_> = job.outcomes.into_iter().map(|slot| slot.unwrap_or(rest)).collect();
        if job.missing > 0 {
            for number in first..first + outcomes.len() as u64 {
                self.returned.remove(&number);
            }
        }
        // It fails when the caller has stopped waiting.
        let _ = job.reply.send(outcomes);
        job.missing
    }
}

#[cfg(test)]
mod tests {
    use super::PublishOutcome::{Confirmed, ConnectionLost, Nacked, Returned, TimedOut};
    use super::*;
    use std::time::Duration;

    fn at(millis: u64) -> Instant {
        // A fixed origin would need a clock; the differences are what matters here.
        thread_local!(static ORIGIN: Instant = runtime::clock::monotonic());
        ORIGIN.with(|origin| *origin + Duration::from_millis(millis))
    }

    #[test]
    fn a_job_is_answered_when_its_last_message_is() {
        let mut flight = InFlight::default();
        let (reply, mut answer) = oneshot::channel();
        let first = flight.admit(3, at(10), reply);
        assert_eq!(flight.answered(first + 2, BrokerReply::Ack), Some(Confirmed));
        assert_eq!(flight.answered(first, BrokerReply::Nack), Some(Nacked));
        assert!(answer.try_recv().is_err());
        assert_eq!(flight.answered(first + 1, BrokerReply::Lost), Some(ConnectionLost));
        assert_eq!(answer.try_recv().unwrap(), [Nacked, ConnectionLost, Confirmed]);
        assert_eq!(flight.next_deadline(), None);
    }

    #[test]
    fn a_return_is_booked_to_its_own_message() {
        let mut flight = InFlight::default();
        let (reply, mut answer) = oneshot::channel();
        let first = flight.admit(2, at(10), reply);
        assert!(flight.returned(first + 1));
        flight.answered(first, BrokerReply::Ack);
        flight.answered(first + 1, BrokerReply::Ack);
        assert_eq!(answer.try_recv().unwrap(), [Confirmed, Returned]);
        assert!(!flight.returned(first + 1), "it was answered before");
        assert!(flight.returned.is_empty());
    }

    #[test]
    fn at_its_deadline_a_job_is_answered_with_what_is_known() {
        let mut flight = InFlight::default();
        let ((early, mut first_answer), (late, mut second_answer)) =
            (oneshot::channel(), oneshot::channel());
        let first = flight.admit(2, at(10), early);
        let second = flight.admit(1, at(20), late);
        flight.answered(first + 1, BrokerReply::Ack);
        flight.returned(first);
        assert_eq!(flight.next_deadline(), Some(at(10)));
        assert_eq!(flight.expire(at(15)), 1);
        assert_eq!(first_answer.try_recv().unwrap(), [TimedOut, Confirmed]);
        assert_eq!(flight.answered(first, BrokerReply::Ack), None, "too late to count");
        assert!(second_answer.try_recv().is_err() && flight.is_waiting(second));
        assert_eq!(flight.lose_all(), 1);
        assert_eq!(second_answer.try_recv().unwrap(), [ConnectionLost]);
        assert!(flight.returned.is_empty());
    }

    #[test]
    fn a_job_without_messages_is_answered_at_once() {
        let (reply, mut answer) = oneshot::channel();
        InFlight::default().admit(0, at(0), reply);
        assert_eq!(answer.try_recv().unwrap(), []);
    }
}

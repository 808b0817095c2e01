//! Results from the end of their attempt until they are answered.
//!
//! A result becomes ready when it is safe on disk and its output has gone before it; it is sent again,
//! on this stream or a later one, until it is answered. What is in here still counts as held.

use crate::output::AttemptOutput;
use domain::id::SessionId;
use domain::task::LeaseKey;
use protocol::result_answer::Verdict;
use runtime::clock::Instant;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How long a result waits for output that is not answered. Part of the protocol.
const OUTPUT_PATIENCE: Duration = Duration::from_secs(5);
/// Pause before what was answered RETRY goes again.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// When a sent result without any answer goes again on the same stream.
const REPEAT_AFTER: Duration = Duration::from_secs(5);
/// Most results in one message; with the longest reasons still below the message limit.
const GROUP: usize = 4000;
/// Once the values of a message have so many bytes it is full: with all else still below the message limit.
const GROUP_VALUES: usize = 2 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// On its way to the disk.
    Writing,
    /// Until its output is sent, or this time.
    AfterOutput(Instant),
    /// To be sent.
    Ready,
    /// Sent at this time on the present stream.
    Sent(Instant),
    /// To be sent again at this time.
    Later(Instant),
}

#[derive(Debug)]
struct Entry {
    result: protocol::Result,
    stage: Stage,
    output: Option<Arc<AttemptOutput>>,
}

#[derive(Debug, Default)]
pub(super) struct Outbox {
    entries: HashMap<LeaseKey, Entry>,
    ready: VecDeque<LeaseKey>,
    /// Those in stage `AfterOutput` or `Later`.
    waiting: Vec<LeaseKey>,
}

impl Outbox {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn contains(&self, key: &LeaseKey) -> bool {
        self.entries.contains_key(key)
    }

    /// Leases of `session` that have ended and were not answered.
    pub(super) fn held(&self, session: SessionId) -> impl Iterator<Item = LeaseKey> {
        self.entries.keys().copied().filter(move |key| key.session == session)
    }

    /// A result that is being written to disk. `output` goes before it.
    pub(super) fn add(
        &mut self,
        key: LeaseKey,
        result: protocol::Result,
        output: Option<Arc<AttemptOutput>>,
    ) {
        self.entries.insert(key, Entry { result, stage: Stage::Writing, output });
    }

    /// A result that can be sent as it is: from disk, or one that need not be there.
    pub(super) fn add_ready(&mut self, key: LeaseKey, result: protocol::Result) {
        self.entries.insert(key, Entry { result, stage: Stage::Ready, output: None });
        self.ready.push_back(key);
    }

    /// These are on disk, or the disk has failed and nothing more can be done for them.
    pub(super) fn written(&mut self, keys: &[LeaseKey], now: Instant) {
        for key in keys {
            let Some(entry) = self.entries.get_mut(key) else { continue };
            if entry.stage == Stage::Writing {
                entry.stage = Stage::AfterOutput(now + OUTPUT_PATIENCE);
                self.waiting.push(*key);
            }
        }
        self.release(now);
    }

    /// Makes ready what has waited enough.
    pub(super) fn release(&mut self, now: Instant) {
        let (entries, ready) = (&mut self.entries, &mut self.ready);
        self.waiting.retain(|key| {
            let Some(entry) = entries.get_mut(key) else { return false };
            let over = match entry.stage {
                Stage::AfterOutput(until) => {
                    now >= until || entry.output.as_ref().is_none_or(|output| output.is_drained())
                }
                Stage::Later(at) => now >= at,
                Stage::Writing | Stage::Ready | Stage::Sent(_) => return false,
            };
            if over {
                entry.stage = Stage::Ready;
                ready.push_back(*key);
            }
            !over
        });
    }

    /// When `release` may find something.
    pub(super) fn next_release(&self) -> Option<Instant> {
        let at = |key: &LeaseKey| match self.entries.get(key)?.stage {
            Stage::AfterOutput(at) | Stage::Later(at) => Some(at),
            Stage::Writing | Stage::Ready | Stage::Sent(_) => None,
        };
        self.waiting.iter().filter_map(at).min()
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The next group to send.
    pub(super) fn take(&mut self, now: Instant) -> Vec<protocol::Result> {
        let mut group = Vec::with_capacity(self.ready.len().min(GROUP));
        let mut values = 0;
        while group.len() < GROUP && values < GROUP_VALUES {
            let Some(key) = self.ready.pop_front() else { break };
            if let Some(entry) = self.entries.get_mut(&key)
                && entry.stage == Stage::Ready
            {
                entry.stage = Stage::Sent(now);
                values += entry.result.value.as_ref().map_or(0, |value| value.len());
                group.push(entry.result.clone());
            }
        }
        group
    }

    /// Heeds an answer; true when the result may be forgotten on disk, too.
    pub(super) fn answered(&mut self, key: &LeaseKey, verdict: Verdict, now: Instant) -> bool {
        match verdict {
            Verdict::Applied | Verdict::Repeated | Verdict::Stale | Verdict::NotFound => {
                self.entries.remove(key).is_some()
            }
            // A verdict of a later version: ask again.
            Verdict::Retry | Verdict::Unspecified => {
                if let Some(entry) = self.entries.get_mut(key)
                    && matches!(entry.stage, Stage::Sent(_))
                {
                    entry.stage = Stage::Later(now + RETRY_AFTER);
                    self.waiting.push(*key);
                }
                false
            }
        }
    }

    /// A new stream: everything that was sent goes again.
    pub(super) fn restart(&mut self) {
        self.make_ready(|stage| matches!(stage, Stage::Sent(_) | Stage::Later(_)));
    }

    /// Sends again what has had no answer for long.
    pub(super) fn repeat_overdue(&mut self, now: Instant) {
        self.make_ready(|stage| matches!(stage, Stage::Sent(at) if now >= at + REPEAT_AFTER));
    }

    fn make_ready(&mut self, wanted: impl Fn(Stage) -> bool) {
        for (key, entry) in &mut self.entries {
            if wanted(entry.stage) {
                entry.stage = Stage::Ready;
                self.ready.push_back(*key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{TaskId, TenantId};
    use prost::Message;
    use runtime::clock;

    fn filled(count: usize) -> (Outbox, Vec<LeaseKey>, Instant) {
        let session = SessionId::fresh();
        let mut outbox = Outbox::default();
        let keys: Vec<_> = (0..count)
            .map(|_| (TenantId::fresh(), TaskId::fresh()))
            .map(|(tenant, task)| LeaseKey { tenant, task, attempt: 1, session })
            .collect();
        for key in &keys {
            outbox.add(*key, protocol::Result::default(), None);
        }
        (outbox, keys, clock::monotonic())
    }

    #[test]
    fn nothing_is_sent_before_it_is_on_disk() {
        let (mut outbox, keys, now) = filled(2);
        assert!(outbox.take(now).is_empty());
        outbox.written(&keys[..1], now);
        assert_eq!(outbox.take(now).len(), 1);
        assert!(outbox.take(now).is_empty());
        assert_eq!(outbox.held(keys[0].session).count(), 2);
        assert_eq!(outbox.held(SessionId::fresh()).count(), 0);
    }

    #[test]
    fn a_message_of_the_longest_results_is_below_its_limit() {
        let (mut outbox, keys, now) = filled(GROUP + 1);
        let longest = protocol::Result {
            reason: "x".repeat(protocol::MAX_REASON),
            value: Some(vec![b'1'; domain::task::MAX_RESULT_BYTES].into()),
            ..protocol::Result::default()
        };
        for key in &keys {
            outbox.add_ready(
                *key,
                protocol::Result { lease: Some((*key).into()), ..longest.clone() },
            );
        }
        let mut sent = 0;
        while outbox.has_ready() {
            let message: protocol::FromExecutor =
                protocol::Results { results: outbox.take(now) }.into();
            assert!(message.encoded_len() < protocol::MAX_MESSAGE_BYTES);
            let Some(protocol::from_executor::Message::Results(results)) = message.message else {
                panic!("{message:?}")
            };
            sent += results.results.len();
        }
        assert_eq!(sent, keys.len());
        // Small ones share one.
        let (mut outbox, keys, now) = filled(GROUP);
        let none = protocol::Result { value: None, ..longest };
        for key in &keys {
            outbox.add_ready(*key, protocol::Result { lease: Some((*key).into()), ..none.clone() });
        }
        let results = outbox.take(now);
        assert_eq!(results.len(), GROUP);
        let message: protocol::FromExecutor = protocol::Results { results }.into();
        assert!(message.encoded_len() < protocol::MAX_MESSAGE_BYTES);
    }

    #[test]
    fn a_result_goes_again_until_it_is_answered() {
        let (mut outbox, keys, now) = filled(1);
        outbox.written(&keys, now);
        assert_eq!(outbox.take(now).len(), 1);
        outbox.restart();
        assert_eq!(outbox.take(now).len(), 1);
        outbox.repeat_overdue(now);
        assert!(outbox.take(now).is_empty());
        outbox.repeat_overdue(now + REPEAT_AFTER);
        assert_eq!(outbox.take(now).len(), 1);
        assert!(!outbox.answered(&keys[0], Verdict::Retry, now));
        outbox.release(now);
        assert!(outbox.take(now).is_empty());
        assert_eq!(outbox.next_release(), Some(now + RETRY_AFTER));
        outbox.release(now + RETRY_AFTER);
        assert_eq!(outbox.take(now).len(), 1);
        assert!(outbox.answered(&keys[0], Verdict::Stale, now));
        assert!(outbox.is_empty());
        assert!(!outbox.answered(&keys[0], Verdict::Applied, now));
    }
}

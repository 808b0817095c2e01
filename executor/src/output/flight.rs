//! Output that was sent and not yet answered.
//!
//! Owned by the agent. Bounds what is under way, and sends it again on a new stream: the numbers in each
//! chunk let the resource manager store it once.

use super::queue::OutputQueue;
use protocol::{MAX_OUTPUT_CHUNK, MAX_UNANSWERED_OUTPUT, Output, OutputAnswer, OutputChunk};
use std::collections::VecDeque;

/// Most output in one message, bytes: small enough that a heartbeat never waits long behind it.
const GROUP: usize = 512 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Flight {
    /// Sent on the present stream, oldest first.
    unanswered: VecDeque<OutputChunk>,
    unanswered_bytes: usize,
    /// Sent on an earlier stream; goes first.
    again: VecDeque<OutputChunk>,
}

impl Flight {
    /// True when `next` would give something.
    pub(crate) fn is_ready(&self, queue: &OutputQueue) -> bool {
        self.unanswered_bytes + MAX_OUTPUT_CHUNK <= MAX_UNANSWERED_OUTPUT
            && (!self.again.is_empty() || !queue.is_empty())
    }

    /// The next group to send; counted as under way from now on.
    pub(crate) fn next(&mut self, queue: &OutputQueue) -> Option<Output> {
        let room = MAX_UNANSWERED_OUTPUT.saturating_sub(self.unanswered_bytes);
        // A chunk is never divided: the last one must fit, too.
        let limit = GROUP.min((room + 1).saturating_sub(MAX_OUTPUT_CHUNK));
        let chunks = if self.again.is_empty() { queue.take(limit) } else { self.take_again(limit) };
        self.unanswered_bytes += chunks.iter().map(|chunk| chunk.data.len()).sum::<usize>();
        // Clones share the bytes.
        self.unanswered.extend(chunks.iter().cloned());
        (!chunks.is_empty()).then_some(Output { chunks })
    }

    /// So many bytes are settled.
    pub(crate) fn answered(&mut self, answer: &OutputAnswer) {
        let mut left = usize::try_from(answer.stored_bytes).unwrap_or(usize::MAX);
        while let Some(first) = self.unanswered.front_mut() {
            if left < first.data.len() {
                break;
            }
            left -= first.data.len();
            self.unanswered_bytes -= first.data.len();
            self.unanswered.pop_front();
        }
    }

    /// A new stream has begun: everything unanswered goes again.
    pub(crate) fn restart(&mut self) {
        self.unanswered.append(&mut self.again);
        self.again = std::mem::take(&mut self.unanswered);
        self.unanswered_bytes = 0;
    }

    /// Forgets everything: its leases are over.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn take_again(&mut self, limit: usize) -> Vec<OutputChunk> {
        let mut bytes = 0;
        let mut chunks = Vec::new();
        while let Some(chunk) = self.again.pop_front() {
            bytes += chunk.data.len();
            chunks.push(chunk);
            if bytes >= limit {
                break;
            }
        }
        chunks
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AttemptOutput, OutputLimits, Which};
    use super::*;
    use domain::id::{SessionId, TaskId, TenantId};
    use domain::task::LeaseKey;
    use std::sync::Arc;

    fn filled(bytes: usize) -> (OutputQueue, Flight) {
        let lease = LeaseKey {
            tenant: TenantId::fresh(),
            task: TaskId::fresh(),
            attempt: 1,
            session: SessionId::fresh(),
        };
        let limits = OutputLimits { head: bytes, tail: 0 };
        let output = Arc::new(AttemptOutput::new(lease, limits));
        output.push(Which::Stdout, &vec![7; bytes]);
        let queue = OutputQueue::default();
        queue.add(&output);
        (queue, Flight::default())
    }

    fn send_all(flight: &mut Flight, queue: &OutputQueue) -> Vec<(u32, usize)> {
        let mut sent = Vec::new();
        while flight.is_ready(queue) {
            let Some(group) = flight.next(queue) else { break };
            sent.extend(group.chunks.iter().map(|chunk| (chunk.seq, chunk.data.len())));
        }
        sent
    }

    #[test]
    fn no_more_than_the_limit_is_under_way() {
        let (queue, mut flight) = filled(MAX_UNANSWERED_OUTPUT + 100);
        let sent = send_all(&mut flight, &queue);
        assert_eq!(sent.iter().map(|(_, len)| len).sum::<usize>(), MAX_UNANSWERED_OUTPUT);
        flight.answered(&OutputAnswer { stored_bytes: sent[0].1 as u64 });
        let rest = send_all(&mut flight, &queue);
        assert_eq!(rest.iter().map(|(_, len)| len).sum::<usize>(), 100);
    }

    #[test]
    fn what_was_not_answered_goes_again_with_the_same_numbers() {
        let (queue, mut flight) = filled(3 * protocol::MAX_OUTPUT_CHUNK);
        let sent = send_all(&mut flight, &queue);
        flight.answered(&OutputAnswer { stored_bytes: sent[0].1 as u64 });
        flight.restart();
        assert_eq!(send_all(&mut flight, &queue), sent[1..]);
    }
}

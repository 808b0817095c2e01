//! Both output streams of one attempt, filled by its pumps and emptied by the agent.
//!
//! The two sides share it under a short lock, so that a flood is copied once and never passes through
//! the agent's loop. Where the streams alternate, so do their pieces: their numbers are the order in which they were read.

use super::stream::{StreamBuffer, Waiting, Which};
use domain::task::LeaseKey;
use parking_lot::Mutex;
use protocol::OutputChunk;
use runtime::clock::{self, Instant};
use std::time::Duration;

/// How much of each stream is kept, bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputLimits {
    /// From the start.
    pub(crate) head: usize,
    /// From the end.
    pub(crate) tail: usize,
}

#[derive(Debug)]
pub(crate) struct AttemptOutput {
    lease: LeaseKey,
    state: Mutex<State>,
}

/// Longest time that written bytes wait for more to go with them.
pub(super) const HOLD: Duration = Duration::from_millis(200);
/// Most switches between the streams in `HOLD` that begin a piece. After them a piece holds what was read of its stream before
/// and after a switch: a command that alternates without end must not become a chunk a word.
const SWITCHES: u32 = 32;

#[derive(Debug)]
struct State {
    stdout: StreamBuffer,
    stderr: StreamBuffer,
    /// Number of the next piece of either.
    next_seq: u32,
    /// Which was added to last.
    last: Which,
    /// Switches between the streams that may still begin a piece before `switches_until`.
    switches: u32,
    switches_until: Instant,
    /// It stands in the queue already.
    queued: bool,
}

impl AttemptOutput {
    pub(crate) fn new(lease: LeaseKey, limits: OutputLimits) -> Self {
        let stream = || StreamBuffer::new(limits.head, limits.tail);
        let state = State {
            stdout: stream(),
            stderr: stream(),
            next_seq: 0,
            last: Which::Stdout,
            switches: 0,
            switches_until: clock::monotonic(),
            queued: false,
        };
        Self { lease, state: Mutex::new(state) }
    }

    /// Bytes written to (stdout, stderr) so far.
    pub(crate) fn totals(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.stdout.total(), state.stderr.total())
    }

    /// True when nothing is left to be sent now.
    pub(crate) fn is_drained(&self) -> bool {
        let state = self.state.lock();
        state.stdout.pending() + state.stderr.pending() == 0
    }

    /// Adds what was read.
    pub(super) fn push(&self, which: Which, data: &[u8]) -> Waiting {
        let mut state = self.state.lock();
        let cut = state.begins_piece(which);
        let (stream, next_seq) = state.stream(which);
        stream.push(data, cut, next_seq);
        stream.waiting()
    }

    /// Waits no longer for the rest of a character.
    pub(super) fn release(&self, which: Which) -> Waiting {
        let mut state = self.state.lock();
        let (stream, next_seq) = state.stream(which);
        stream.release(next_seq);
        stream.waiting()
    }

    /// Both streams are over: their tails may be sent.
    pub(super) fn finish(&self) {
        let mut state = self.state.lock();
        for which in [Which::Stdout, Which::Stderr] {
            let (stream, next_seq) = state.stream(which);
            stream.finish(next_seq);
        }
    }

    /// True the first time, until `take` has emptied it: then it must be queued again.
    pub(super) fn mark_queued(&self) -> bool {
        !std::mem::replace(&mut self.state.lock().queued, true)
    }

    /// The next chunk of those that wait, in the order of reading. None leaves the queue.
    pub(super) fn take(&self) -> Option<OutputChunk> {
        let mut state = self.state.lock();
        let which = match (state.stdout.next_seq(), state.stderr.next_seq()) {
            (Some(out), Some(err)) if err < out => Which::Stderr,
            (None, Some(_)) => Which::Stderr,
            _ => Which::Stdout,
        };
        let Some(piece) = state.stream(which).0.take() else {
            state.queued = false;
            return None;
        };
        Some(OutputChunk {
            lease: Some(self.lease.into()),
            stream: which.on_the_wire().into(),
            seq: piece.seq,
            offset: piece.offset,
            data: piece.into_data(),
        })
    }
}

impl State {
    const fn stream(&mut self, which: Which) -> (&mut StreamBuffer, &mut u32) {
        let stream = match which {
            Which::Stdout => &mut self.stdout,
            Which::Stderr => &mut self.stderr,
        };
        (stream, &mut self.next_seq)
    }

    /// Whether `which` takes over from the other stream and may begin a piece.
    fn begins_piece(&mut self, which: Which) -> bool {
        if std::mem::replace(&mut self.last, which) == which {
            return false;
        }
        let now = clock::monotonic();
        if now >= self.switches_until {
            (self.switches, self.switches_until) = (SWITCHES, now + HOLD);
        }
        let may = self.switches > 0;
        self.switches = self.switches.saturating_sub(1);
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{SessionId, TaskId, TenantId};
    use protocol::output_chunk::Stream;

    fn output(head: usize, tail: usize) -> AttemptOutput {
        let lease = LeaseKey {
            tenant: TenantId::fresh(),
            task: TaskId::fresh(),
            attempt: 1,
            session: SessionId::fresh(),
        };
        AttemptOutput::new(lease, OutputLimits { head, tail })
    }

    fn all(output: &AttemptOutput) -> Vec<(u32, Stream, String)> {
        let text = |data: &[u8]| String::from_utf8(data.to_vec()).unwrap();
        let next = || output.take().map(|chunk| (chunk.seq, chunk.stream(), text(&chunk.data)));
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn pieces_are_numbered_and_given_in_the_order_of_reading() {
        let output = output(100, 0);
        for (which, text) in [
            (Which::Stderr, "e1 "),
            (Which::Stderr, "e2 "),
            (Which::Stdout, "o1 "),
            (Which::Stderr, "e3 "),
            (Which::Stdout, "o2 "),
        ] {
            output.push(which, text.as_bytes());
        }
        let wanted = [
            (0, Stream::Stderr, "e1 e2 ".to_owned()),
            (1, Stream::Stdout, "o1 ".to_owned()),
            (2, Stream::Stderr, "e3 ".to_owned()),
            (3, Stream::Stdout, "o2 ".to_owned()),
        ];
        assert_eq!(all(&output), wanted);
    }

    #[test]
    fn the_end_of_a_flood_keeps_its_place_before_what_was_said_after_it() {
        let output = output(4, 4);
        output.push(Which::Stdout, b"0123456789");
        output.push(Which::Stderr, b"last");
        let numbers: Vec<_> = all(&output).into_iter().map(|(seq, ..)| seq).collect();
        assert_eq!(numbers, [0, 2]);
        output.finish();
        assert_eq!(all(&output), [(1, Stream::Stdout, "6789".to_owned())]);
    }

    #[test]
    fn a_character_goes_on_over_the_words_of_the_other_stream() {
        let output = output(100, 0);
        assert!(output.push(Which::Stdout, b"\xc3").unfinished);
        output.push(Which::Stderr, b"x");
        output.push(Which::Stdout, b"\xa4");
        let wanted = [(0, Stream::Stderr, "x".to_owned()), (1, Stream::Stdout, "ä".to_owned())];
        assert_eq!(all(&output), wanted);
        output.push(Which::Stdout, b"a\xc3");
        assert_eq!(output.release(Which::Stdout), Waiting { bytes: 2, unfinished: false });
    }

    #[test]
    fn streams_that_alternate_without_end_do_not_make_a_chunk_a_word() {
        let output = output(1_000_000, 0);
        for _ in 0..10_000 {
            output.push(Which::Stdout, b"o");
            output.push(Which::Stderr, b"e");
        }
        let pieces = all(&output);
        // As many as a slow machine would allow in ten times the time.
        assert!(pieces.len() < 10 * SWITCHES as usize, "{} pieces", pieces.len());
    }
}

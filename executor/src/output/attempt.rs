//! Both output streams of one attempt, filled by its pumps and emptied by the agent.
//!
//! The two sides share it under a short lock, so that a flood is copied once and never passes through
//! the agent's loop.

use super::stream::{StreamBuffer, Which};
use protocol::{LeaseKey, OutputChunk};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

#[derive(Debug)]
struct State {
    stdout: StreamBuffer,
    stderr: StreamBuffer,
    /// It stands in the queue already.
    queued: bool,
}

impl AttemptOutput {
    pub(crate) fn new(lease: LeaseKey, limits: OutputLimits) -> Self {
        let stream = || StreamBuffer::new(limits.head, limits.tail);
        let state = State { stdout: stream(), stderr: stream(), queued: false };
        Self { lease, state: Mutex::new(state) }
    }

    /// Bytes written to (stdout, stderr) so far.
    pub(crate) fn totals(&self) -> (u64, u64) {
        let state = self.lock();
        (state.stdout.total(), state.stderr.total())
    }

    /// True when nothing is left to be sent now.
    pub(crate) fn is_drained(&self) -> bool {
        let state = self.lock();
        state.stdout.pending() + state.stderr.pending() == 0
    }

    /// Adds what was read; returns how many bytes of this stream wait to be sent.
    pub(super) fn push(&self, which: Which, data: &[u8]) -> usize {
        let mut state = self.lock();
        let stream = state.stream(which);
        stream.push(data);
        stream.pending()
    }

    /// Both streams are over: their tails may be sent.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        state.stdout.finish();
        state.stderr.finish();
    }

    /// True the first time, until `take` has emptied it: then it must be queued again.
    pub(super) fn mark_queued(&self) -> bool {
        !std::mem::replace(&mut self.lock().queued, true)
    }

    /// The next chunk, of at most `limit` bytes. None leaves the queue.
    pub(super) fn take(&self, limit: usize) -> Option<OutputChunk> {
        let mut state = self.lock();
        for which in [Which::Stdout, Which::Stderr] {
            if let Some(piece) = state.stream(which).take(limit) {
                return Some(OutputChunk {
                    lease: Some(self.lease.into()),
                    stream: which.on_the_wire().into(),
                    seq: piece.seq,
                    offset: piece.offset,
                    data: piece.data,
                });
            }
        }
        state.queued = false;
        None
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    const fn stream(&mut self, which: Which) -> &mut StreamBuffer {
        match which {
            Which::Stdout => &mut self.stdout,
            Which::Stderr => &mut self.stderr,
        }
    }
}

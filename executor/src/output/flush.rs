//! When what was read of one stream is sent.
//!
//! Used for pipes (`pump`) and for output of this process itself (`feed`). Full chunks are due at once; fewer
//! bytes at most every 200 ms, the first after a quiet time at once, so that a line is seen when it
//! is written and a thousand lines a second are not a thousand chunks. The beginning of a character waits a second for the
//! rest of it.

use super::attempt::{AttemptOutput, HOLD};
use super::queue::OutputQueue;
use super::stream::{Waiting, Which};
use crate::metrics::OUTPUT_BYTES;
use protocol::MAX_OUTPUT_CHUNK;
use runtime::clock::{self, Instant};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

/// Longest time that the beginning of a character waits for the rest.
const UNFINISHED: Duration = Duration::from_secs(1);

pub(super) struct FlushTimer {
    which: Which,
    output: Arc<AttemptOutput>,
    queue: Arc<OutputQueue>,
    due_from: Instant,
    waiting: bool,
    release_at: Option<Instant>,
}

impl FlushTimer {
    pub(super) fn new(which: Which, output: Arc<AttemptOutput>, queue: Arc<OutputQueue>) -> Self {
        let due_from = clock::monotonic();
        Self { which, output, queue, due_from, waiting: false, release_at: None }
    }

    /// Adds what was read, and sends it if it is due.
    pub(super) fn push(&mut self, data: &[u8]) {
        OUTPUT_BYTES.with(&[self.which.name()]).inc_by(data.len() as u64);
        let waiting = self.output.push(self.which, data);
        self.added(waiting, clock::monotonic());
    }

    /// Waits until something has to be done, and does it; for ever pending when nothing waits. May be dropped at any
    /// time.
    pub(super) async fn due(&mut self) {
        let due = self.waiting.then_some(self.due_from);
        match due.into_iter().chain(self.release_at).min() {
            Some(at) => clock::sleep_until(at).await,
            None => pending().await,
        }
        let now = clock::monotonic();
        if self.release_at.is_some_and(|at| now >= at) {
            let waiting = self.output.release(self.which);
            self.added(waiting, now);
        } else if self.waiting && now >= self.due_from {
            self.send(now);
        }
    }

    fn added(&mut self, waiting: Waiting, now: Instant) {
        self.release_at = waiting.unfinished.then(|| now + UNFINISHED);
        self.waiting = waiting.bytes > 0;
        if waiting.bytes >= MAX_OUTPUT_CHUNK || (self.waiting && now >= self.due_from) {
            self.send(now);
        }
    }

    fn send(&mut self, now: Instant) {
        self.queue.add(&self.output);
        (self.waiting, self.due_from) = (false, now + HOLD);
    }
}

//! Output that comes from this process itself instead of a pipe, in the same rhythm.
//!
//! As in `pump`: full chunks are due at once, fewer bytes at most every 200 ms.

use super::attempt::AttemptOutput;
use super::pump::HOLD;
use super::queue::OutputQueue;
use super::stream::Which;
use crate::metrics::OUTPUT_BYTES;
use protocol::MAX_OUTPUT_CHUNK;
use runtime::clock::{self, Instant};
use std::future::pending;
use std::sync::Arc;

pub(crate) struct Feed {
    output: Arc<AttemptOutput>,
    queue: Arc<OutputQueue>,
    /// When what waits is due; none when nothing waits.
    due: Option<Instant>,
    last: Option<Instant>,
}

impl Feed {
    pub(crate) const fn new(output: Arc<AttemptOutput>, queue: Arc<OutputQueue>) -> Self {
        Self { output, queue, due: None, last: None }
    }

    /// Adds to one of the two streams.
    pub(crate) fn push(&mut self, which: Which, data: &[u8]) {
        OUTPUT_BYTES.with(&[which.name()]).inc_by(data.len() as u64);
        let waiting = self.output.push(which, data);
        let now = clock::monotonic();
        let due = self.last.map_or(now, |last| last + HOLD);
        if waiting >= MAX_OUTPUT_CHUNK || (waiting > 0 && due <= now) {
            self.send(now);
        } else if waiting > 0 {
            self.due = Some(due);
        }
    }

    /// Sends what waits, once it has waited long enough.
    pub(crate) async fn held(&mut self) {
        match self.due {
            Some(due) => {
                clock::sleep_until(due).await;
                self.send(clock::monotonic());
            }
            None => pending().await,
        }
    }

    fn send(&mut self, now: Instant) {
        self.queue.add(&self.output);
        (self.due, self.last) = (None, Some(now));
    }
}

//! Output that comes from this process itself instead of a pipe, flushed in the same way.

use super::attempt::AttemptOutput;
use super::flush::FlushTimer;
use super::queue::OutputQueue;
use super::stream::Which;
use std::sync::Arc;

pub(crate) struct Feed {
    stdout: FlushTimer,
    stderr: FlushTimer,
}

impl Feed {
    pub(crate) fn new(output: Arc<AttemptOutput>, queue: Arc<OutputQueue>) -> Self {
        Self {
            stdout: FlushTimer::new(Which::Stdout, Arc::clone(&output), Arc::clone(&queue)),
            stderr: FlushTimer::new(Which::Stderr, output, queue),
        }
    }

    /// Adds to one of the two streams.
    pub(crate) fn push(&mut self, which: Which, data: &[u8]) {
        match which {
            Which::Stdout => self.stdout.push(data),
            Which::Stderr => self.stderr.push(data),
        }
    }

    /// Sends what waits, once it has waited long enough.
    pub(crate) async fn held(&mut self) {
        tokio::select! {
            () = self.stdout.due() => {}
            () = self.stderr.due() => {}
        }
    }
}

//! Which attempts have output that is due, in turn.
//!
//! Pumps add to it, the agent takes from it. Each attempt stands in it once and gives one chunk a
//! turn, so that a flood delays nobody else's lines.

use super::attempt::AttemptOutput;
use parking_lot::Mutex;
use protocol::OutputChunk;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct OutputQueue {
    due: Mutex<VecDeque<Arc<AttemptOutput>>>,
    filled: Notify,
}

impl OutputQueue {
    /// `output` has something to send now.
    pub(crate) fn add(&self, output: &Arc<AttemptOutput>) {
        if output.mark_queued() {
            self.due.lock().push_back(Arc::clone(output));
            self.filled.notify_one();
        }
    }

    /// All of `output` is there: lets what is left of it be sent at once.
    pub(crate) fn finish(&self, output: &Arc<AttemptOutput>) {
        output.finish();
        if !output.is_drained() {
            self.add(output);
        }
    }

    /// Resolves when something was added.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.due.lock().is_empty()
    }

    /// Chunks, one of each attempt in turn, until there are `limit` bytes or one chunk more.
    pub(super) fn take(&self, mut limit: usize) -> Vec<OutputChunk> {
        let mut due = self.due.lock();
        let mut chunks = Vec::new();
        while limit > 0 {
            let Some(output) = due.pop_front() else { break };
            if let Some(chunk) = output.take() {
                limit = limit.saturating_sub(chunk.data.len());
                chunks.push(chunk);
                due.push_back(output);
            }
        }
        chunks
    }

    /// Forgets everything: its leases are over.
    pub(crate) fn clear(&self) {
        self.due.lock().clear();
    }
}

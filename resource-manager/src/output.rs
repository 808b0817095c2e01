//! Stores what tasks write, in batches and in order.
//!
//! A result is settled only after the output that came before it on its stream was stored, because output
//! is accepted under a live lease only: each queued group has a number, and settling waits for it.

use crate::fleet::Stream;
use crate::metrics::LOOP_SECONDS;
use bus::{Bus, Topic};
use protocol::OutputAnswer;
use runtime::backoff::Backoff;
use runtime::clock;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::connect::RmDb;
use store::output::{NewChunk, insert};
use tokio::sync::{mpsc, watch};
use tracing::warn;

/// Groups of chunks that may wait; each executor has at most 4 MiB under way besides.
const QUEUE: usize = 64;

type Group = (Stream, Vec<NewChunk>);

/// The way in, and the count of what is in.
#[derive(Clone)]
pub(crate) struct OutputQueue {
    sender: mpsc::Sender<Group>,
    queued: Arc<AtomicU64>,
    stored: watch::Receiver<u64>,
}

/// The way out.
pub(crate) struct OutputWriter {
    receiver: mpsc::Receiver<Group>,
    stored: watch::Sender<u64>,
}

pub(crate) fn queue() -> (OutputQueue, OutputWriter) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let (stored_tx, stored) = watch::channel(0);
    (
        OutputQueue { sender, queued: Arc::default(), stored },
        OutputWriter { receiver, stored: stored_tx },
    )
}

impl OutputQueue {
    /// Queues a group; waits while the queue is full.
    pub(crate) async fn push(&self, stream: Stream, chunks: Vec<NewChunk>) {
        if let Ok(place) = self.sender.reserve().await {
            // Counted at the very moment it takes its place, so that numbers follow the queue's order.
            self.queued.fetch_add(1, Ordering::SeqCst);
            place.send((stream, chunks));
        }
    }

    /// Groups queued so far.
    pub(crate) fn queued(&self) -> u64 {
        self.queued.load(Ordering::SeqCst)
    }

    /// Waits until that many groups are stored.
    pub(crate) async fn stored(&self, count: u64) {
        let mut stored = self.stored.clone();
        // An error means the writer is gone, at shutdown: nothing more will be stored.
        let _ = stored.wait_for(|done| *done >= count).await;
    }
}

impl OutputWriter {
    /// Stores output until the queue is closed.
    pub(crate) async fn run(mut self, db: RmDb, bus: Bus, batch_bytes: usize) {
        let mut stored = 0;
        while let Some(first) = self.receiver.recv().await {
            let began = clock::monotonic();
            let mut groups = vec![first];
            let mut bytes = size(&groups[0]);
            while bytes < batch_bytes {
                let Ok(next) = self.receiver.try_recv() else { break };
                bytes += size(&next);
                groups.push(next);
            }
            let count = groups.len() as u64;
            let mut per_stream: HashMap<u64, (Stream, u64)> = HashMap::new();
            let mut chunks = Vec::new();
            for (stream, group) in groups {
                per_stream.entry(stream.id).or_insert((stream, 0)).1 +=
                    group.iter().map(|c| c.data.len() as u64).sum::<u64>();
                chunks.extend(group);
            }
            store_all(&db, &chunks).await;
            stored += count;
            let _ = self.stored.send(stored);
            for (stream, stored_bytes) in per_stream.into_values() {
                stream.send(OutputAnswer { stored_bytes });
            }
            bus.wake(Topic::Output);
            LOOP_SECONDS.with(&["output"]).observe_duration(began.elapsed());
        }
    }
}

/// Tries until the database takes all of it but what it refuses: one bad chunk must not cost the others theirs, so a
/// refused lot is halved until the bad one is alone.
async fn store_all(db: &RmDb, chunks: &[NewChunk]) {
    let mut backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));
    let mut lots = vec![chunks];
    while let Some(lot) = lots.pop() {
        match insert(db, lot).await {
            Ok(_) => {}
            Err(error) if error.is_retryable() => {
                warn!(%error, chunks = lot.len(), "Output could not be stored yet");
                clock::sleep(backoff.pause()).await;
                lots.push(lot);
            }
            Err(error) => match lot {
                [] => {}
                [bad] => {
                    warn!(%error, task.id = %bad.task, attempt = bad.attempt, "A piece of output was refused by the database and is dropped: {error}");
                }
                _ => {
                    let (first, second) = lot.split_at(lot.len() / 2);
                    lots.extend([second, first]);
                }
            },
        }
    }
}

fn size(group: &Group) -> usize {
    group.1.iter().map(|chunk| chunk.data.len()).sum()
}

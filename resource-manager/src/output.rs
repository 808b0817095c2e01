//! Stores output of tasks, in batches and in order.
//!
//! A result is settled only after the output before it on its stream is stored, because output is accepted only under a
//! live lease. Each queued group has a number, and settlement waits for it.

use crate::fleet::Stream;
use crate::metrics::LOOP_SECONDS;
use bus::{Bus, Topic};
use protocol::{MAX_UNANSWERED_OUTPUT, OutputAnswer};
use runtime::backoff::Backoff;
use runtime::clock;
use runtime::tick::Turns;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::connect::RmDb;
use store::output::{NewChunk, insert};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tracing::warn;

/// Maximum of waiting groups.
const QUEUE: usize = 64;
/// Chunks in one group; bounds the time others wait for it.
const MOST_CHUNKS: usize = 1024;
/// Cost of a chunk without its data, in bytes of data.
const CHUNK_BYTES: usize = 4096;
/// Limit of waiting output of one stream: twice what a correct executor ever has.
const ROOM: usize = 2 * MAX_UNANSWERED_OUTPUT;

/// Chunks of one stream, with their permit until they are stored.
struct Group {
    stream: Stream,
    chunks: Vec<NewChunk>,
    bytes: usize,
    room: Option<OwnedSemaphorePermit>,
}

/// The limit of one stream: an executor that sends too much slows down only itself.
pub(crate) struct OutputRoom(Arc<Semaphore>);

impl OutputRoom {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(ROOM)))
    }

    async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes.min(ROOM)).unwrap_or(u32::MAX);
        // It is never closed.
        Arc::clone(&self.0).acquire_many_owned(bytes).await.ok()
    }
}

/// The sending end, which numbers groups.
#[derive(Clone)]
pub(crate) struct OutputQueue {
    sender: mpsc::Sender<Group>,
    queued: Arc<AtomicU64>,
    stored: watch::Receiver<u64>,
}

/// The storing end.
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
    /// Queues chunks in order; waits while the queue is full or the stream is at its limit.
    pub(crate) async fn push(&self, stream: &Stream, room: &OutputRoom, chunks: Vec<NewChunk>) {
        let mut chunks = chunks.into_iter().peekable();
        while chunks.peek().is_some() {
            let chunks: Vec<NewChunk> = chunks.by_ref().take(MOST_CHUNKS).collect();
            let bytes = chunks.iter().map(|chunk| chunk.data.len() + CHUNK_BYTES).sum();
            let group =
                Group { stream: stream.clone(), room: room.take(bytes).await, bytes, chunks };
            if let Ok(place) = self.sender.reserve().await {
                // Counted at the same time as it is queued, so that numbers follow the order of the queue.
                self.queued.fetch_add(1, Ordering::SeqCst);
                place.send(group);
            }
        }
    }

    /// Groups queued so far.
    pub(crate) fn queued(&self) -> u64 {
        self.queued.load(Ordering::SeqCst)
    }

    /// Waits until that many groups are stored.
    pub(crate) async fn stored(&self, count: u64) {
        let mut stored = self.stored.clone();
        // An error means that the writer has stopped, at shutdown: nothing more is stored.
        let _ = stored.wait_for(|done| *done >= count).await;
    }
}

impl OutputWriter {
    /// Stores output until the queue is closed.
    pub(crate) async fn run(mut self, turns: Turns, (db, bus): (RmDb, Bus), batch_bytes: usize) {
        let mut stored = 0;
        while let Some(first) = turns.wait(self.receiver.recv()).await {
            let began = clock::monotonic();
            let mut groups = vec![first];
            let mut bytes = groups[0].bytes;
            while bytes < batch_bytes {
                let Ok(next) = self.receiver.try_recv() else { break };
                bytes += next.bytes;
                groups.push(next);
            }
            let count = groups.len() as u64;
            let mut per_stream: HashMap<u64, (Stream, u64)> = HashMap::new();
            let mut chunks = Vec::new();
            let mut rooms = Vec::with_capacity(groups.len());
            for Group { stream, chunks: group, room, .. } in groups {
                per_stream.entry(stream.id).or_insert((stream, 0)).1 +=
                    group.iter().map(|c| c.data.len() as u64).sum::<u64>();
                chunks.extend(group);
                rooms.push(room);
            }
            // Counted as stored also after a failure; otherwise no result would ever be settled again.
            turns.turn(store_all(&db, &chunks, &turns)).await;
            stored += count;
            let _ = self.stored.send(stored);
            for (stream, stored_bytes) in per_stream.into_values() {
                stream.send(OutputAnswer { stored_bytes });
            }
            drop(rooms);
            bus.wake(Topic::Output);
            LOOP_SECONDS.with(&["output"]).observe_duration(began.elapsed());
        }
        turns.end();
    }
}

/// Retries until all valid chunks are stored. A refused batch is halved until the bad chunk is alone, so that one bad
/// chunk does not cost the others.
async fn store_all(db: &RmDb, chunks: &[NewChunk], turns: &Turns) -> bool {
    let mut backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));
    let mut lots = vec![chunks];
    while let Some(lot) = lots.pop() {
        match insert(db, lot).await {
            Ok(_) => {}
            Err(error) if error.is_retryable() => {
                warn!(%error, chunks = lot.len(), "Output could not be stored yet");
                turns.fails();
                clock::sleep(backoff.pause()).await;
                lots.push(lot);
            }
            Err(error) => match lot {
                [] => {}
                [bad] => {
                    warn!(%error, task.id = %bad.lease.task, attempt = bad.lease.attempt, "A piece of output was refused by the database and is dropped: {error}");
                }
                _ => {
                    let (first, second) = lot.split_at(lot.len() / 2);
                    lots.extend([second, first]);
                }
            },
        }
    }
    true
}

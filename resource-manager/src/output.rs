//! Stores what tasks write, in batches and in order.
//!
//! A result is settled only after the output that came before it on its stream was stored, because output
//! is accepted under a live lease only: each queued group has a number, and settling waits for it.

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

/// Groups of chunks that may wait.
const QUEUE: usize = 64;
/// Chunks in one group: no message makes a group that others wait long for.
const MOST_CHUNKS: usize = 1024;
/// What a chunk weighs beside its data, bytes: to store an empty one takes about as long as this much data.
const CHUNK_BYTES: usize = 4096;
/// What one stream may have waiting: twice the data that an executor which keeps to the protocol ever has.
const ROOM: usize = 2 * MAX_UNANSWERED_OUTPUT;

/// Chunks of one stream, with the room that they take until they are stored.
struct Group {
    stream: Stream,
    chunks: Vec<NewChunk>,
    bytes: usize,
    room: Option<OwnedSemaphorePermit>,
}

/// The room of one stream: an executor that sends more than it may waits for itself, not others for it.
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
    /// Queues chunks in their order; waits while the queue is full, or too much of the same stream is in it.
    pub(crate) async fn push(&self, stream: &Stream, room: &OutputRoom, chunks: Vec<NewChunk>) {
        let mut chunks = chunks.into_iter().peekable();
        while chunks.peek().is_some() {
            let chunks: Vec<NewChunk> = chunks.by_ref().take(MOST_CHUNKS).collect();
            let bytes = chunks.iter().map(|chunk| chunk.data.len() + CHUNK_BYTES).sum();
            let group =
                Group { stream: stream.clone(), room: room.take(bytes).await, bytes, chunks };
            if let Ok(place) = self.sender.reserve().await {
                // Counted at the very moment it takes its place, so that numbers follow the queue's order.
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
        // An error means the writer is gone, at shutdown: nothing more will be stored.
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
            // Counted as stored whatever comes of it, or nothing would ever be settled again.
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

/// Tries until the database takes all of it but what it refuses: one bad chunk must not cost the others theirs, so a
/// refused lot is halved until the bad one is alone.
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
                    warn!(%error, task.id = %bad.task, attempt = bad.attempt, "A piece of output was refused by the database and is dropped: {error}");
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

//! Moves bytes in one direction, as late or as seldom as the mode says.
//!
//! The rule: what is read is written in order or, in `DropReplies`, not at all; nothing is kept without a bound, so
//! a slow receiver slows the sender as it would without us.

use std::time::Duration;

use runtime::clock::{self, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::{mpsc, watch};

use super::mode::Mode;

const CHUNK: usize = 16 * 1024;
/// Chunks under way in one direction while they are delayed: 4 MiB.
const UNDER_WAY: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    ToServer,
    ToClient,
}

struct Chunk {
    due: Instant,
    bytes: Vec<u8>,
}

pub(super) async fn run(
    direction: Direction,
    from: ReadHalf<'_>,
    to: WriteHalf<'_>,
    mode: watch::Receiver<Mode>,
) {
    let (sender, receiver) = mpsc::channel(UNDER_WAY);
    tokio::join!(take(direction, from, sender, mode.clone()), give(to, receiver, mode));
}

/// Reads until the sender ends, marking each chunk with the time it is due on the other side.
async fn take(
    direction: Direction,
    mut from: ReadHalf<'_>,
    sender: mpsc::Sender<Chunk>,
    mode: watch::Receiver<Mode>,
) {
    let mut buffer = vec![0; CHUNK];
    while let Ok(count) = from.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        let present = *mode.borrow();
        if present == Mode::DropReplies && direction == Direction::ToClient {
            continue;
        }
        let late = if let Mode::Delay(late) = present { late } else { Duration::ZERO };
        let bytes = buffer.iter().take(count).copied().collect();
        if sender.send(Chunk { due: clock::monotonic() + late, bytes }).await.is_err() {
            return;
        }
    }
}

/// Writes each chunk when it is due and the network lets it through; passes the end of the stream on at last.
async fn give(
    mut to: WriteHalf<'_>,
    mut chunks: mpsc::Receiver<Chunk>,
    mut mode: watch::Receiver<Mode>,
) {
    while let Some(chunk) = chunks.recv().await {
        clock::sleep(chunk.due.saturating_duration_since(clock::monotonic())).await;
        if write(&mut to, &chunk.bytes, &mut mode).await.is_none() {
            return;
        }
    }
    if open(&mut mode).await.is_some() {
        // One that is gone needs no farewell.
        let _ended = to.shutdown().await;
    }
}

async fn write(
    to: &mut WriteHalf<'_>,
    bytes: &[u8],
    mode: &mut watch::Receiver<Mode>,
) -> Option<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let present = open(mode).await?;
        let Mode::Throttle { bytes_per_second } = present else {
            return to.write_all(rest).await.ok();
        };
        // Ten portions a second, so that a slow line is slow and not bursty.
        let portion = usize::try_from((bytes_per_second / 10).max(1)).ok()?;
        let (now, later) = rest.split_at(portion.min(rest.len()));
        clock::sleep(Duration::from_secs_f64(
            now.len() as f64 / f64::from(bytes_per_second.max(1)),
        ))
        .await;
        to.write_all(now).await.ok()?;
        rest = later;
    }
    Some(())
}

/// Waits while the network is a black hole; `None` when the proxy is gone.
async fn open(mode: &mut watch::Receiver<Mode>) -> Option<Mode> {
    mode.wait_for(|mode| *mode != Mode::Blackhole).await.ok().map(|mode| *mode)
}

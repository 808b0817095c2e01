//! Drains one pipe of a command for as long as anybody may write to it.
//!
//! Runs once for each stream of each attempt, until end of file. Full chunks are due at once; fewer
//! bytes at most every 200 ms, the first after a quiet time at once, so that a line is seen when it
//! is written and a thousand lines a second are not a thousand chunks.

use super::attempt::AttemptOutput;
use super::queue::OutputQueue;
use super::stream::Which;
use crate::metrics::OUTPUT_BYTES;
use protocol::MAX_OUTPUT_CHUNK;
use runtime::clock;
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::unix::pipe::Receiver;

/// Longest time that written bytes wait for more to go with them.
pub(super) const HOLD: Duration = Duration::from_millis(200);

thread_local! {
    /// One buffer for all pumps of a thread: it is used only between two awaits.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; MAX_OUTPUT_CHUNK]);
}

/// Reads `pipe` to its end into `output`.
pub(crate) async fn pump(
    pipe: Receiver,
    which: Which,
    output: Arc<AttemptOutput>,
    queue: Arc<OutputQueue>,
) {
    let bytes = OUTPUT_BYTES.with(&[which.name()]);
    let mut due_from = clock::monotonic();
    let mut waiting = 0;
    loop {
        let readable = tokio::select! {
            readable = pipe.readable() => readable,
            () = clock::sleep_until(due_from), if waiting > 0 => {
                queue.add(&output);
                (waiting, due_from) = (0, clock::monotonic() + HOLD);
                continue;
            }
        };
        match readable.and_then(|()| read_some(&pipe, which, &output)) {
            Ok(None) => {}
            Ok(Some((0, _))) | Err(_) => return,
            Ok(Some((len, pending))) => {
                bytes.inc_by(len as u64);
                waiting = pending;
                let now = clock::monotonic();
                if waiting >= MAX_OUTPUT_CHUNK || (waiting > 0 && now >= due_from) {
                    queue.add(&output);
                    (waiting, due_from) = (0, now + HOLD);
                }
            }
        }
    }
}

/// How many bytes came, and how many of the stream now wait to be sent. None when there were none yet.
fn read_some(
    pipe: &Receiver,
    which: Which,
    output: &AttemptOutput,
) -> io::Result<Option<(usize, usize)>> {
    SCRATCH.with_borrow_mut(|scratch| match pipe.try_read(scratch) {
        Ok(len) => Ok(Some((len, output.push(which, scratch.get(..len).unwrap_or_default())))),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    })
}

//! Drains one pipe of a command for as long as anybody may write to it.
//!
//! Runs once for each stream of each attempt, until end of file.

use super::attempt::AttemptOutput;
use super::flush::FlushTimer;
use super::queue::OutputQueue;
use super::stream::Which;
use protocol::MAX_OUTPUT_CHUNK;
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use tokio::net::unix::pipe::Receiver;

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
    let mut timer = FlushTimer::new(which, output, queue);
    loop {
        let readable = tokio::select! {
            readable = pipe.readable() => readable,
            () = timer.due() => continue,
        };
        match readable.and_then(|()| read_some(&pipe, &mut timer)) {
            Ok(Some(0)) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// How many bytes came. None when there were none yet.
fn read_some(pipe: &Receiver, timer: &mut FlushTimer) -> io::Result<Option<usize>> {
    SCRATCH.with_borrow_mut(|scratch| match pipe.try_read(scratch) {
        Ok(len) => {
            timer.push(scratch.get(..len).unwrap_or_default());
            Ok(Some(len))
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    })
}

//! Standard error that never makes its process wait for its reader.
//!
//! Log lines go into a bounded buffer and one thread writes them: a pipe that nobody reads, or a terminal that is stopped, blocks that
//! thread and nothing else. The rule: a line that finds no room is dropped and counted, and once somebody reads again the log says
//! how many were. Call [`flush`] at the end of the process.

use crate::clock;
use crate::metrics::{Counter, counter};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// Memory that is kept for the next lines.
const KEPT_BYTES: usize = 64 * 1024;

static STANDARD_ERROR: OnceLock<Arc<LogQueue>> = OnceLock::new();

/// Lines on their way to their reader.
pub struct LogQueue {
    lines: Mutex<Lines>,
    changed: Condvar,
    /// Bytes that may wait.
    room: usize,
    dropped: Counter,
}

#[derive(Default)]
struct Lines {
    waiting: Vec<u8>,
    /// Bytes that are being written.
    leaving: usize,
    /// Dropped lines that the log does not tell of yet.
    unreported: u64,
}

/// The queue before this process's standard error, with `room` bytes where this call is the first.
///
/// # Errors
/// When its thread cannot be started.
pub fn standard_error(room: usize) -> io::Result<Arc<LogQueue>> {
    if let Some(queue) = STANDARD_ERROR.get() {
        return Ok(Arc::clone(queue));
    }
    let queue = LogQueue::start(room, io::stderr())?;
    Ok(Arc::clone(STANDARD_ERROR.get_or_init(|| queue)))
}

/// Waits until everything is written, `limit` at most: a reader that reads nothing must not keep a process from ending.
pub fn flush(limit: Duration) {
    if let Some(queue) = STANDARD_ERROR.get() {
        queue.flush(limit);
    }
}

impl LogQueue {
    fn start(room: usize, to: impl Write + AsFd + Send + 'static) -> io::Result<Arc<Self>> {
        let dropped = counter(
            "berth_log_lines_dropped_total",
            "Log lines dropped because standard error was not read, or is closed",
            &[],
        );
        let queue = Arc::new(Self {
            lines: Mutex::default(),
            changed: Condvar::new(),
            room,
            dropped: dropped.with(&[]),
        });
        let of_thread = Arc::clone(&queue);
        std::thread::Builder::new()
            .name("berth-log".to_owned())
            .spawn(move || of_thread.write_on(to))?;
        Ok(queue)
    }

    /// Adds whole lines, where there is room.
    pub fn push(&self, text: &[u8]) {
        let mut lines = self.lock();
        if lines.waiting.len() + lines.leaving + text.len() > self.room {
            let count = lines_in(text);
            lines.unreported += count;
            self.dropped.inc_by(count);
            return;
        }
        let was_empty = lines.waiting.is_empty();
        lines.waiting.extend_from_slice(text);
        drop(lines);
        if was_empty {
            self.changed.notify_all();
        }
    }

    fn flush(&self, limit: Duration) {
        let until = clock::monotonic() + limit;
        let mut lines = self.lock();
        while !lines.waiting.is_empty() || lines.leaving > 0 {
            let left = until.saturating_duration_since(clock::monotonic());
            if left.is_zero() {
                return;
            }
            self.changed.wait_for(&mut lines, left);
        }
    }

    /// Writes as long as the process lives.
    fn write_on(&self, mut to: impl Write + AsFd) {
        let mut batch = Vec::new();
        loop {
            self.next(&mut batch);
            let written = write_all(&mut to, &batch);
            let unreported = {
                let mut lines = self.lock();
                lines.leaving = 0;
                if written.is_ok() { std::mem::take(&mut lines.unreported) } else { 0 }
            };
            self.changed.notify_all();
            if written.is_err() {
                // Closed, for example. The next lines may be luckier.
                self.dropped.inc_by(lines_in(&batch));
            } else if unreported > 0 {
                tracing::warn!(
                    lines = unreported,
                    "{unreported} log lines were dropped: standard error was not read in time"
                );
            }
            batch.clear();
            batch.shrink_to(KEPT_BYTES);
        }
    }

    /// Waits for lines, and moves them to `batch`, which is empty.
    fn next(&self, batch: &mut Vec<u8>) {
        let mut lines = self.lock();
        while lines.waiting.is_empty() {
            self.changed.wait(&mut lines);
        }
        std::mem::swap(&mut lines.waiting, batch);
        lines.leaving = batch.len();
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock()
    }
}

impl std::fmt::Debug for LogQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogQueue").field("room", &self.room).finish_non_exhaustive()
    }
}

/// A line as the formatter writes it, in one piece.
impl Write for &LogQueue {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.push(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the subscriber writes to.
pub(crate) struct ToQueue(pub(crate) Arc<LogQueue>);

impl<'a> MakeWriter<'a> for ToQueue {
    type Writer = &'a LogQueue;

    fn make_writer(&'a self) -> Self::Writer {
        &self.0
    }
}

/// As `Write::write_all`, also where whoever shares the file has made it non-blocking.
fn write_all(to: &mut (impl Write + AsFd), mut text: &[u8]) -> io::Result<()> {
    while !text.is_empty() {
        match to.write(text) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => text = text.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let mut room = [PollFd::new(to.as_fd(), PollFlags::POLLOUT)];
                poll(&mut room, PollTimeout::NONE)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn lines_in(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    const SOON: Duration = Duration::from_secs(10);

    #[test]
    fn lines_that_nobody_reads_wait_up_to_the_bound_and_are_counted_beyond_it() {
        let (mut reader, writer) = io::pipe().unwrap();
        let queue = LogQueue::start(256 * 1024, writer).unwrap();
        let before = queue.dropped.get();
        let line = format!("{}\n", "x".repeat(1023));
        // More than a pipe and the queue hold.
        for _ in 0..1024 {
            queue.push(line.as_bytes());
        }
        queue.flush(Duration::from_millis(10));
        let dropped = queue.dropped.get() - before;
        assert!((500..=768).contains(&dropped), "{dropped} of 1024 lines of 1 KiB");
        assert_eq!(queue.lock().unreported, dropped);
        // Whoever reads again finds whole lines, and the process may end.
        let kept = 1024 - dropped;
        let mut text = vec![0; usize::try_from(kept).unwrap() * line.len()];
        reader.read_exact(&mut text).unwrap();
        assert!(text.chunks(line.len()).all(|one| one == line.as_bytes()));
        queue.flush(SOON);
        let lines = queue.lock();
        assert_eq!((lines.waiting.len(), lines.leaving, lines.unreported), (0, 0, 0));
    }

    #[test]
    fn a_reader_that_is_gone_costs_the_lines_and_nothing_else() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let queue = LogQueue::start(4096, writer).unwrap();
        let before = queue.dropped.get();
        for _ in 0..3 {
            queue.push(b"one\ntwo\n");
            queue.flush(SOON);
        }
        let until = clock::monotonic() + SOON;
        while queue.dropped.get() < before + 6 && clock::monotonic() < until {
            std::thread::yield_now();
        }
        assert_eq!(queue.dropped.get() - before, 6);
    }
}

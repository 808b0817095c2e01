//! `berth logs`.
//!
//! The task's bytes go where the task wrote them: standard output or standard error, unchanged.

use super::connection::Connection;
use super::failure::failure;
use super::follow::follow;
use crate::failure::Failure;
use crate::output::{self, Format};
use client::{LogChunk, LogFilter, PageRequest, Stream};
use domain::id::TaskId;
use std::io;

/// Which output.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth logs task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --stream stdout > result.txt\n  \
                  berth logs -f task_0190a6f3c1d27a3e8b1f0c2d4e5f6071"
)]
pub struct LogsArguments {
    /// Id of the task.
    pub id: TaskId,
    /// Of this attempt only, 1 upwards; of all in order when left out.
    #[arg(long)]
    pub attempt: Option<u32>,
    /// What was written to stdout or to stderr only.
    #[arg(long, value_name = "STREAM")]
    pub stream: Option<Stream>,
    /// Go on as it is written, until the task has ended; then its end is the exit code.
    #[arg(long, short = 'f')]
    pub follow: bool,
}

/// Writes a task's output.
pub async fn run(connection: &Connection, arguments: &LogsArguments) -> Result<(), Failure> {
    let filter = LogFilter { attempt: arguments.attempt, stream: arguments.stream };
    if arguments.follow {
        return follow(connection, arguments.id, filter).await;
    }
    let mut reader = Reader::default();
    let mut next = Some(PageRequest::default());
    while let Some(request) = next.take() {
        let page = connection
            .client
            .logs(arguments.id, filter, &request)
            .await
            .map_err(|error| failure(&error))?;
        match connection.format {
            Format::Json => output::document(page.json())?,
            Format::Table => page.data.iter().try_for_each(|chunk| reader.write(chunk))?,
        }
        next = page.next(&request);
    }
    Ok(())
}

/// Where the reading is, to notice bytes that are missing.
#[derive(Debug, Default)]
pub(super) struct Reader {
    attempt: u32,
    stdout: u64,
    stderr: u64,
}

impl Reader {
    /// Writes a chunk where the task wrote it.
    pub(super) fn write(&mut self, chunk: &LogChunk) -> Result<(), Failure> {
        if let Some(missing) = self.missing_before(chunk) {
            output::remark(&format!(
                "berth: {missing} bytes of {} of attempt {} were not kept here",
                chunk.stream, chunk.attempt
            ));
        }
        match chunk.stream {
            Stream::Stdout => output::bytes(&mut io::stdout().lock(), &chunk.data),
            Stream::Stderr => output::bytes(&mut io::stderr().lock(), &chunk.data),
        }
    }

    /// Bytes between the chunk before and this one.
    fn missing_before(&mut self, chunk: &LogChunk) -> Option<u64> {
        if self.attempt != chunk.attempt {
            *self = Self { attempt: chunk.attempt, ..Self::default() };
        }
        let place = match chunk.stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let expected = std::mem::replace(place, chunk.offset + chunk.data.len() as u64);
        chunk.offset.checked_sub(expected).filter(|missing| *missing > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(attempt: u32, stream: Stream, offset: u64, len: usize) -> LogChunk {
        LogChunk { attempt, stream, seq: 0, offset, at: Default::default(), data: vec![b'x'; len] }
    }

    #[test]
    fn missing_bytes_are_noticed_within_a_stream_and_at_its_start() {
        let mut reader = Reader::default();
        let missing = [
            chunk(1, Stream::Stdout, 0, 10),
            chunk(1, Stream::Stdout, 10, 5),
            chunk(1, Stream::Stdout, 100, 5),
            chunk(1, Stream::Stderr, 0, 5),
            chunk(1, Stream::Stdout, 105, 5),
            chunk(2, Stream::Stdout, 7, 5),
        ]
        .map(|chunk| reader.missing_before(&chunk));
        assert_eq!(missing, [None, None, Some(85), None, None, Some(7)]);
    }
}

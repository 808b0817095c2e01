//! `berth logs`.
//!
//! The task's bytes go where the task wrote them: standard output or standard error, unchanged.

use super::connection::Connection;
use super::failure::failure;
use super::follow::follow;
use crate::failure::Failure;
use crate::output::{self, Format};
use chrono::SecondsFormat;
use client::{LogChunk, LogFilter, PageRequest, Since, Stream};
use domain::id::TaskId;
use std::borrow::Cow;
use std::io;

/// Which output.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth logs task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 --stream stdout > result.txt\n  \
                  berth logs -f task_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n  \
                  berth logs --tail 20 --timestamps task_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n  \
                  berth logs --since 10m task_0190a6f3c1d27a3e8b1f0c2d4e5f6071"
)]
pub struct LogsArguments {
    /// Id of the task.
    pub id: TaskId,
    /// Attempt, from 1. Default: all, in order.
    #[arg(long)]
    pub attempt: Option<u32>,
    /// Only stdout or stderr.
    #[arg(long, value_name = "STREAM")]
    pub stream: Option<Stream>,
    /// Only the last N lines, 0 to 10000.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub tail: Option<u32>,
    /// Only output stored since this time (2030-01-31T12:00:00Z) or age (10m).
    #[arg(long, value_name = "TIME|DURATION")]
    pub since: Option<Since>,
    /// Prefix each line with the time it was stored.
    #[arg(long, short = 't')]
    pub timestamps: bool,
    /// Follow until the task has finished; the exit code is its result.
    #[arg(long, short = 'f')]
    pub follow: bool,
}

/// Writes a task's output.
pub async fn run(connection: &Connection, arguments: &LogsArguments) -> Result<(), Failure> {
    let LogsArguments { id, attempt, stream, tail, since, timestamps, follow: follows } =
        *arguments;
    let filter = LogFilter { attempt, stream, tail, since };
    let mut reader = Reader::new(&filter, timestamps);
    if follows {
        return follow(connection, id, filter, reader).await;
    }
    let mut next = Some(PageRequest::default());
    while let Some(request) = next.take() {
        let page =
            connection.client.logs(id, filter, &request).await.map_err(|error| failure(&error))?;
        match connection.format {
            Format::Json => output::document(page.json())?,
            Format::Table => page.data.iter().try_for_each(|chunk| reader.write(chunk))?,
        }
        next = page.next(&request);
    }
    Ok(())
}

/// Where the reading is, to notice bytes that are missing and lines that begin.
#[derive(Debug)]
pub(super) struct Reader {
    timestamps: bool,
    attempt: u32,
    stdout: Place,
    stderr: Place,
}

/// Where the reading of a stream is.
#[derive(Debug, Default, Clone, Copy)]
struct Place {
    /// Offset of the byte to come; none where the reading begins in the middle.
    offset: Option<u64>,
    in_line: bool,
}

impl Place {
    const START: Self = Self { offset: Some(0), in_line: false };
}

impl Reader {
    /// `timestamps`: each line is to begin with its time.
    pub(super) fn new(filter: &LogFilter, timestamps: bool) -> Self {
        let in_the_middle = filter.tail.is_some() || filter.since.is_some();
        let place = if in_the_middle { Place::default() } else { Place::START };
        Self { timestamps, attempt: 0, stdout: place, stderr: place }
    }

    /// Writes a chunk where the task wrote it.
    pub(super) fn write(&mut self, chunk: &LogChunk) -> Result<(), Failure> {
        if let Some(missing) = self.missing_before(chunk) {
            output::remark(&format!(
                "berth: {missing} bytes of {} of attempt {} were not stored",
                chunk.stream, chunk.attempt
            ));
        }
        let bytes = self.shown(chunk);
        match chunk.stream {
            Stream::Stdout => output::bytes(&mut io::stdout().lock(), &bytes),
            Stream::Stderr => output::bytes(&mut io::stderr().lock(), &bytes),
        }
    }

    /// Bytes between the chunk before and this one.
    fn missing_before(&mut self, chunk: &LogChunk) -> Option<u64> {
        if self.attempt != chunk.attempt {
            if self.attempt > 0 {
                (self.stdout, self.stderr) = (Place::START, Place::START);
            }
            self.attempt = chunk.attempt;
        }
        let place = self.place(chunk.stream);
        let expected = place.offset.replace(chunk.offset + chunk.data.len() as u64);
        chunk.offset.checked_sub(expected?).filter(|missing| *missing > 0)
    }

    /// The chunk's bytes as they are to be seen.
    fn shown<'a>(&mut self, chunk: &'a LogChunk) -> Cow<'a, [u8]> {
        if !self.timestamps {
            return Cow::Borrowed(&chunk.data);
        }
        let at = chunk.at.to_rfc3339_opts(SecondsFormat::Millis, true);
        let place = self.place(chunk.stream);
        let mut shown = Vec::with_capacity(chunk.data.len() * 2);
        for line in chunk.data.split_inclusive(|byte| *byte == b'\n') {
            if !place.in_line {
                shown.extend_from_slice(at.as_bytes());
                shown.push(b' ');
            }
            shown.extend_from_slice(line);
            place.in_line = !line.ends_with(b"\n");
        }
        Cow::Owned(shown)
    }

    const fn place(&mut self, stream: Stream) -> &mut Place {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(attempt: u32, stream: Stream, offset: u64, len: usize) -> LogChunk {
        LogChunk { attempt, stream, seq: 0, offset, at: Default::default(), data: vec![b'x'; len] }
    }

    #[test]
    fn each_line_has_the_time_of_its_beginning() {
        let mut reader = Reader::new(&LogFilter::default(), true);
        let mut shown = |stream, second: i64, text: &str| {
            let at = chrono::DateTime::from_timestamp(second, 0).unwrap();
            let data = text.as_bytes().to_vec();
            let chunk = LogChunk { at, data, ..chunk(1, stream, 0, 0) };
            String::from_utf8(reader.shown(&chunk).into_owned()).unwrap()
        };
        let at = |second| format!("1970-01-01T00:00:0{second}.000Z");
        assert_eq!(shown(Stream::Stdout, 1, "a\n\nb"), format!("{0} a\n{0} \n{0} b", at(1)));
        assert_eq!(shown(Stream::Stderr, 2, "e\n"), format!("{} e\n", at(2)));
        assert_eq!(shown(Stream::Stdout, 3, "b\nc\n"), format!("b\n{} c\n", at(3)));
        assert_eq!(shown(Stream::Stdout, 4, ""), "");
    }

    #[test]
    fn nothing_is_missing_before_the_place_where_the_reading_was_to_begin() {
        let filter = LogFilter { tail: Some(3), ..LogFilter::default() };
        let mut reader = Reader::new(&filter, false);
        let missing = [
            chunk(2, Stream::Stdout, 500, 10),
            chunk(2, Stream::Stderr, 90, 5),
            chunk(2, Stream::Stdout, 600, 5),
            chunk(3, Stream::Stdout, 7, 5),
        ]
        .map(|chunk| reader.missing_before(&chunk));
        assert_eq!(missing, [None, None, Some(90), Some(7)]);
    }

    #[test]
    fn missing_bytes_are_noticed_within_a_stream_and_at_its_start() {
        let mut reader = Reader::new(&LogFilter::default(), false);
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

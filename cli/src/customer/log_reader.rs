//! Writes output as it is read from the API, to the stream that the task wrote it to.

use crate::failure::Failure;
use crate::output;
use chrono::SecondsFormat;
use client::{Extensible, LogChunk, LogFilter, Stream};
use std::borrow::Cow;
use std::io;

/// Where the reading is, to notice bytes that are missing and lines that begin.
#[derive(Debug)]
pub(super) struct Reader {
    timestamps: bool,
    attempt: u32,
    stdout: Place,
    stderr: Place,
    /// Of streams that only a later version knows.
    other: Place,
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
        Self { timestamps, attempt: 0, stdout: place, stderr: place, other: Place::default() }
    }

    /// Writes a chunk where the task wrote it.
    pub(super) fn write(&mut self, chunk: &LogChunk) -> Result<(), Failure> {
        if let Some(missing) = self.missing_before(chunk) {
            output::remark(&format!(
                "berth: {missing} bytes of {} of attempt {} were not kept here",
                chunk.stream, chunk.attempt
            ));
        }
        let bytes = self.shown(chunk);
        match chunk.stream.known() {
            Some(Stream::Stdout) => output::bytes(&mut io::stdout().lock(), &bytes),
            // What this version does not know is not what a script waits for on standard output.
            Some(Stream::Stderr) | None => output::bytes(&mut io::stderr().lock(), &bytes),
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
        chunk.stream.known()?;
        let place = self.place(&chunk.stream);
        let expected = place.offset.replace(chunk.offset + chunk.data.len() as u64);
        chunk.offset.checked_sub(expected?).filter(|missing| *missing > 0)
    }

    /// The chunk's bytes as they are printed.
    fn shown<'a>(&mut self, chunk: &'a LogChunk) -> Cow<'a, [u8]> {
        if !self.timestamps {
            return Cow::Borrowed(&chunk.data);
        }
        let at = chunk.at.to_rfc3339_opts(SecondsFormat::Millis, true);
        let place = self.place(&chunk.stream);
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

    const fn place(&mut self, stream: &Extensible<Stream>) -> &mut Place {
        match stream.known() {
            Some(Stream::Stdout) => &mut self.stdout,
            Some(Stream::Stderr) => &mut self.stderr,
            None => &mut self.other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(attempt: u32, stream: Stream, offset: u64, len: usize) -> LogChunk {
        LogChunk {
            attempt,
            stream: stream.into(),
            seq: 0,
            offset,
            at: Default::default(),
            data: vec![b'x'; len],
        }
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

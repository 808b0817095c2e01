//! Where a reader of output is.

use super::{OutputChunk, Stream};

/// The next chunk that is wanted of each stream of an attempt, and everything of later attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputPosition {
    /// The attempt; 0 before the first.
    pub attempt: u32,
    /// Least `seq` of standard output.
    pub stdout: u32,
    /// Least `seq` of standard error.
    pub stderr: u32,
    /// Bytes of chunk `stdout` that are not wanted.
    pub stdout_skip: u32,
    /// Bytes of chunk `stderr` that are not wanted.
    pub stderr_skip: u32,
}

impl OutputPosition {
    /// The place after `chunk`.
    #[must_use]
    pub const fn after(self, chunk: &OutputChunk) -> Self {
        let base = if chunk.attempt == self.attempt {
            self
        } else {
            Self { attempt: chunk.attempt, stdout: 0, stderr: 0, stdout_skip: 0, stderr_skip: 0 }
        };
        let next = chunk.seq.saturating_add(1);
        match chunk.stream {
            Stream::Stdout => Self { stdout: next, stdout_skip: 0, ..base },
            Stream::Stderr => Self { stderr: next, stderr_skip: 0, ..base },
        }
    }

    /// `chunk` without the bytes that are not wanted of it.
    pub(super) fn without_skipped(self, mut chunk: OutputChunk) -> OutputChunk {
        let (seq, skip) = match chunk.stream {
            Stream::Stdout => (self.stdout, self.stdout_skip),
            Stream::Stderr => (self.stderr, self.stderr_skip),
        };
        if (chunk.attempt, chunk.seq) == (self.attempt, seq) {
            let skip = chunk.data.len().min(skip as usize);
            chunk.offset += skip as u64;
            chunk.data.drain(..skip);
        }
        chunk
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::Timestamp;

    #[test]
    fn a_place_counts_each_stream_by_itself_and_skips_only_where_it_stands() {
        let chunk = |attempt, stream, seq| {
            let (at, data) = (Timestamp::UNIX_EPOCH, b"a\nbc".to_vec());
            OutputChunk { attempt, stream, seq, offset: 10, at, data }
        };
        let place =
            OutputPosition { attempt: 1, stdout: 4, stderr: 7, stdout_skip: 2, stderr_skip: 1 };
        let first = place.without_skipped(chunk(1, Stream::Stdout, 4));
        assert_eq!((first.offset, &first.data[..]), (12, &b"bc"[..]));
        assert_eq!(place.without_skipped(chunk(1, Stream::Stdout, 5)).offset, 10);
        assert_eq!(place.without_skipped(chunk(2, Stream::Stdout, 4)).offset, 10);
        let after = place.after(&first);
        assert_eq!(after, OutputPosition { stdout: 5, stdout_skip: 0, ..place });
        let later = after.after(&chunk(2, Stream::Stderr, 0));
        assert_eq!(later, OutputPosition { attempt: 2, stderr: 1, ..OutputPosition::default() });
    }
}

//! Counts the last lines of an output, going backwards through its chunks.
//!
//! Pure. A line belongs to one stream; lines are taken in the order in which they end, over both streams. What a stream has
//! not ended with a line break is its last line.

use super::{OutputChunk, OutputPosition, Stream};

#[derive(Debug)]
pub(super) struct Tail {
    left: u32,
    attempt: u32,
    sides: [Side; 2],
}

/// One stream of the attempt that is being gone through.
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    /// Its newest chunk, once there was one.
    newest: Option<u32>,
    /// The chunk gone through last.
    oldest: u32,
    /// The end of a wanted line was seen, and its beginning was not.
    in_line: bool,
    /// The end of a line that is not wanted was seen.
    closed: bool,
    /// Where the oldest wanted line begins: chunk, and bytes of it before.
    begin: Option<(u32, u32)>,
}

impl Side {
    /// Goes back through a chunk. `left`: how many lines may still be wanted.
    fn add(&mut self, chunk: &OutputChunk, left: &mut u32) {
        self.newest.get_or_insert(chunk.seq);
        for (at, byte) in chunk.data.iter().enumerate().rev() {
            if self.closed {
                break;
            }
            let breaks = *byte == b'\n';
            if breaks && self.in_line {
                // A line may begin with the chunk after this one.
                let is_last = at + 1 == chunk.data.len();
                let here = (chunk.seq, u32::try_from(at + 1).unwrap_or(u32::MAX));
                self.begin = Some(if is_last { (self.oldest, 0) } else { here });
            }
            if breaks || !self.in_line {
                // Another line ends here.
                (self.in_line, self.closed) = (*left > 0, *left == 0);
                *left = left.saturating_sub(1);
            }
        }
        self.oldest = chunk.seq;
    }
}

impl Tail {
    pub(super) fn new(lines: u32) -> Self {
        Self { left: lines, attempt: 0, sides: [Side::default(); 2] }
    }

    /// Goes through the chunk before those that were added. The place where the lines begin, once it is known.
    pub(super) fn add(&mut self, chunk: &OutputChunk) -> Option<OutputPosition> {
        if chunk.attempt != self.attempt {
            if let Some(place) = self.end() {
                return Some(place);
            }
            (self.attempt, self.sides) = (chunk.attempt, [Side::default(); 2]);
        }
        self.sides[chunk.stream as usize].add(chunk, &mut self.left);
        let is_known = self.left == 0 && self.sides.iter().all(|side| !side.in_line);
        is_known.then(|| self.place(chunk.seq))
    }

    /// There is nothing more of the present attempt: its first lines begin where it does. The place, if there are as many
    /// lines.
    pub(super) fn end(&mut self) -> Option<OutputPosition> {
        for side in self.sides.iter_mut().filter(|side| side.in_line) {
            (side.begin, side.in_line) = (Some((side.oldest, 0)), false);
        }
        let seen = self.sides.iter().filter(|side| side.newest.is_some());
        let oldest = seen.map(|side| side.oldest).min()?;
        (self.left == 0).then(|| self.place(oldest))
    }

    /// The place, when chunks from `oldest` on were gone through.
    fn place(&self, oldest: u32) -> OutputPosition {
        // Of a stream without a whole line nothing is wanted that is there already.
        let begin = |stream: Stream| {
            let side = self.sides[stream as usize];
            let none = side.newest.unwrap_or(oldest).saturating_add(1);
            side.begin.unwrap_or((none, 0))
        };
        let ((stdout, stdout_skip), (stderr, stderr_skip)) =
            (begin(Stream::Stdout), begin(Stream::Stderr));
        OutputPosition { attempt: self.attempt, stdout, stderr, stdout_skip, stderr_skip }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Stream::{Stderr, Stdout};
    use domain::time::Timestamp;

    type Chunk = (u32, Stream, u32, &'static str);

    /// What is read from the place where the last lines begin.
    fn last(lines: u32, chunks: &[Chunk]) -> String {
        let made: Vec<OutputChunk> = chunks
            .iter()
            .map(|(attempt, stream, seq, text)| OutputChunk {
                attempt: *attempt,
                stream: *stream,
                seq: *seq,
                offset: 0,
                at: Timestamp::UNIX_EPOCH,
                data: text.as_bytes().to_vec(),
            })
            .collect();
        let mut tail = Tail::new(lines);
        let place = made.iter().rev().find_map(|chunk| tail.add(chunk));
        let place = place.or_else(|| tail.end()).unwrap_or_default();
        let shown = made.into_iter().filter(|chunk| {
            let least = if chunk.stream == Stdout { place.stdout } else { place.stderr };
            (chunk.attempt, chunk.seq) >= (place.attempt, least)
        });
        let bytes = shown.flat_map(|chunk| place.without_skipped(chunk).data).collect();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_last_lines_of_one_stream_begin_anywhere_in_a_chunk() {
        let chunks = [(1, Stdout, 0, "a\nb"), (1, Stdout, 1, "b\nc\n"), (1, Stdout, 2, "d\n")];
        let wanted = ["", "d\n", "c\nd\n", "bb\nc\nd\n", "a\nbb\nc\nd\n", "a\nbb\nc\nd\n"];
        for (lines, wanted) in (0..).zip(wanted) {
            assert_eq!(last(lines, &chunks), wanted, "{lines}");
        }
        assert_eq!(last(1, &[(1, Stdout, 0, "a\nopen")]), "open");
        assert_eq!(last(1, &[(1, Stdout, 0, "\n\n")]), "\n");
        assert_eq!(last(5, &[]), "");
        assert_eq!(last(1, &[(1, Stdout, 0, "a\n"), (1, Stdout, 1, "b\n")]), "b\n");
    }

    #[test]
    fn lines_of_both_streams_count_in_the_order_of_their_ends() {
        let chunks = [
            (1, Stdout, 0, "o1\n"),
            (1, Stderr, 1, "e1\ne"),
            (1, Stdout, 2, "o2\n"),
            (1, Stderr, 3, "2\n"),
            (1, Stdout, 4, "o3\n"),
        ];
        let wanted = ["", "o3\n", "e2\no3\n", "eo2\n2\no3\n", "e1\neo2\n2\no3\n"];
        for (lines, wanted) in (0..).zip(wanted) {
            assert_eq!(last(lines, &chunks), wanted, "{lines}");
        }
    }

    #[test]
    fn earlier_attempts_are_reached_when_the_last_has_too_few() {
        let chunks = [
            (1, Stdout, 0, "a\nb\n"),
            (1, Stderr, 1, "no end"),
            (2, Stdout, 0, "c\n"),
            (2, Stderr, 1, "d\n"),
        ];
        let wanted = ["", "d\n", "c\nd\n", "no endc\nd\n", "b\nno endc\nd\n"];
        for (lines, wanted) in (0..).zip(wanted) {
            assert_eq!(last(lines, &chunks), wanted, "{lines}");
        }
    }
}

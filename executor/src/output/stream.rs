//! One of a command's two output streams: its first bytes, its last, and how many there were.

use super::ring::Ring;
use bytes::{Bytes, BytesMut};
use protocol::MAX_OUTPUT_CHUNK;
use protocol::output_chunk::Stream;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    Stdout,
    Stderr,
}

impl Which {
    /// Its name in metrics.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }

    pub(super) const fn on_the_wire(self) -> Stream {
        match self {
            Self::Stdout => Stream::Stdout,
            Self::Stderr => Stream::Stderr,
        }
    }
}

/// A piece ready to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) seq: u32,
    pub(super) offset: u64,
    pub(super) data: Bytes,
}

#[derive(Debug)]
pub(super) struct StreamBuffer {
    /// How many bytes from the start are sent as they come.
    head_limit: u64,
    /// Bytes of the head that were not taken yet, and after the end also the tail.
    pending: BytesMut,
    pending_offset: u64,
    tail: Ring,
    total: u64,
    seq: u32,
}

impl StreamBuffer {
    pub(super) fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self {
            head_limit: head_limit as u64,
            pending: BytesMut::new(),
            pending_offset: 0,
            tail: Ring::new(tail_limit),
            total: 0,
            seq: 0,
        }
    }

    /// Bytes seen in all.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that `take` can give now.
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn push(&mut self, data: &[u8]) {
        let room = self.head_limit.saturating_sub(self.total);
        let head = usize::try_from(room).unwrap_or(usize::MAX).min(data.len());
        let (head, rest) = data.split_at(head);
        self.pending.extend_from_slice(head);
        self.tail.push(rest);
        self.total += data.len() as u64;
    }

    /// The next piece, of at most `limit` bytes.
    pub(super) fn take(&mut self, limit: usize) -> Option<Piece> {
        let len = self.pending.len().min(limit).min(MAX_OUTPUT_CHUNK);
        if len == 0 {
            return None;
        }
        let piece = Piece {
            seq: self.seq,
            offset: self.pending_offset,
            data: self.pending.split_to(len).freeze(),
        };
        self.seq += 1;
        self.pending_offset += len as u64;
        if self.pending.is_empty() {
            self.step_into_tail();
        }
        Some(piece)
    }

    /// No more will come: what the ring holds may be taken, too.
    pub(super) fn finish(&mut self) {
        self.head_limit = 0;
        if self.pending.is_empty() {
            self.step_into_tail();
        }
    }

    /// After the end, once the head is taken: on with the tail, past the gap.
    fn step_into_tail(&mut self) {
        if self.head_limit == 0 && self.tail.len() > 0 {
            self.pending_offset = self.total - self.tail.len() as u64;
            self.pending = BytesMut::from(Bytes::from(self.tail.take()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(buffer: &mut StreamBuffer) -> Vec<(u32, u64, Vec<u8>)> {
        let mut pieces = Vec::new();
        while let Some(piece) = buffer.take(4) {
            pieces.push((piece.seq, piece.offset, piece.data.to_vec()));
        }
        pieces
    }

    #[test]
    fn head_and_tail_are_exact_and_the_gap_shows_in_the_offset() {
        let mut buffer = StreamBuffer::new(5, 3);
        buffer.push(b"abc");
        assert_eq!(all(&mut buffer), [(0, 0, b"abc".to_vec())]);
        buffer.push(b"defghij");
        assert_eq!(all(&mut buffer), [(1, 3, b"de".to_vec())]);
        buffer.finish();
        assert_eq!(all(&mut buffer), [(2, 7, b"hij".to_vec())]);
        assert_eq!(buffer.total(), 10);
    }

    #[test]
    fn a_stream_that_fits_has_no_gap() {
        let mut buffer = StreamBuffer::new(5, 5);
        buffer.push(b"abcdefgh");
        buffer.finish();
        let pieces = all(&mut buffer);
        assert_eq!(
            pieces,
            [(0, 0, b"abcd".to_vec()), (1, 4, b"e".to_vec()), (2, 5, b"fgh".to_vec())]
        );
    }

    #[test]
    fn a_stream_without_a_head_is_all_tail() {
        let mut buffer = StreamBuffer::new(0, 2);
        buffer.push(b"abc");
        assert_eq!(all(&mut buffer), []);
        buffer.finish();
        assert_eq!(all(&mut buffer), [(0, 1, b"bc".to_vec())]);
    }
}

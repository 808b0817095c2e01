//! One of a command's two output streams: its first bytes, its last, and how many there were.
//!
//! Kept as pieces, each no larger than a chunk and cut between characters. A piece gets its number when its first byte
//! is read, from a counter that both streams of an attempt share, so that numbers tell the order of reading.

use super::text::{orphaned, unfinished};
use bytes::{Bytes, BytesMut};
use protocol::MAX_OUTPUT_CHUNK;
use protocol::output_chunk::Stream;
use std::collections::VecDeque;

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

/// What an addition has led to, for its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Bytes to be sent.
    pub(super) bytes: usize,
    /// The beginning of a character waits for the rest of it.
    pub(super) unfinished: bool,
}

/// Most pieces that wait on account of the order of reading. Where there are as many, others are as large as chunks.
const MOST_CUT: usize = 1024;

/// Bytes that follow each other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) seq: u32,
    pub(super) offset: u64,
    data: BytesMut,
}

impl Piece {
    pub(super) fn into_data(self) -> Bytes {
        self.data.freeze()
    }
}

#[derive(Debug)]
pub(super) struct StreamBuffer {
    /// How many bytes from the start are sent as they come; none once there were as many.
    head_left: Option<u64>,
    tail_limit: usize,
    /// Pieces of the head that were not taken yet, and after the end also the tail.
    pending: VecDeque<Piece>,
    pending_bytes: usize,
    tail: VecDeque<Piece>,
    tail_bytes: usize,
    /// The beginning of a character, held back until the rest of it comes.
    unfinished: Vec<u8>,
    total: u64,
}

impl StreamBuffer {
    pub(super) fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self {
            head_left: Some(head_limit as u64),
            tail_limit,
            pending: VecDeque::new(),
            pending_bytes: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
            unfinished: Vec::new(),
            total: 0,
        }
    }

    /// Bytes seen in all.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that `take` can give now.
    pub(super) const fn pending(&self) -> usize {
        self.pending_bytes
    }

    /// What waits.
    pub(super) const fn waiting(&self) -> Waiting {
        Waiting { bytes: self.pending_bytes, unfinished: !self.unfinished.is_empty() }
    }

    /// The number of the next piece to take.
    pub(super) fn next_seq(&self) -> Option<u32> {
        self.pending.front().map(|piece| piece.seq)
    }

    /// Adds what was read. `cut`: it must not go into the same piece as what came before. `next_seq` counts pieces.
    pub(super) fn push(&mut self, data: &[u8], cut: bool, next_seq: &mut u32) {
        self.total += data.len() as u64;
        let joined;
        let data = if self.unfinished.is_empty() {
            data
        } else {
            joined = [&std::mem::take(&mut self.unfinished)[..], data].concat();
            &joined[..]
        };
        let (data, unfinished) = data.split_at(data.len() - unfinished(data));
        self.unfinished.extend_from_slice(unfinished);
        self.add(data, cut, next_seq);
    }

    /// Gives up waiting for the rest of a character.
    pub(super) fn release(&mut self, next_seq: &mut u32) {
        let data = std::mem::take(&mut self.unfinished);
        self.add(&data, false, next_seq);
    }

    /// The next piece.
    pub(super) fn take(&mut self) -> Option<Piece> {
        let piece = self.pending.pop_front()?;
        self.pending_bytes -= piece.data.len();
        Some(piece)
    }

    /// No more will come: what was kept of the end may be taken, too.
    pub(super) fn finish(&mut self, next_seq: &mut u32) {
        self.release(next_seq);
        self.head_left = None;
        self.pending_bytes += self.tail_bytes;
        self.tail_bytes = 0;
        self.pending.append(&mut self.tail);
    }

    /// `data` ends with a whole character, or is the last there is of one.
    fn add(&mut self, data: &[u8], cut: bool, next_seq: &mut u32) {
        let offset = self.total - (self.unfinished.len() + data.len()) as u64;
        let room = usize::try_from(self.head_left.unwrap_or(0)).unwrap_or(usize::MAX);
        let (head, rest) = data.split_at(between_characters(data, room));
        let cut_head = cut && self.pending.len() < MOST_CUT;
        append(&mut self.pending, head, Place { offset, cut: cut_head, next_seq });
        self.pending_bytes += head.len();
        if rest.is_empty() {
            self.head_left = self.head_left.map(|left| left - head.len() as u64);
            return;
        }
        self.head_left = None;
        // Of more than the limit only the end can stay.
        let skipped = rest.len().saturating_sub(self.tail_limit + MAX_OUTPUT_CHUNK);
        let offset = offset + (head.len() + skipped) as u64;
        let cut = cut && self.tail.len() < MOST_CUT;
        append(&mut self.tail, rest.split_at(skipped).1, Place { offset, cut, next_seq });
        self.tail_bytes += rest.len() - skipped;
        self.shorten_the_tail();
    }

    fn shorten_the_tail(&mut self) {
        while self.tail_bytes > self.tail_limit {
            let over = self.tail_bytes - self.tail_limit;
            let Some(oldest) = self.tail.front_mut() else { return };
            let mut gone = over.min(oldest.data.len());
            // The rest of a character whose beginning goes is no text.
            gone += orphaned(oldest.data.split_at(gone).1);
            oldest.offset += gone as u64;
            let _ = oldest.data.split_to(gone);
            self.tail_bytes -= gone;
            if oldest.data.is_empty() {
                self.tail.pop_front();
            }
        }
    }
}

/// Where bytes go.
struct Place<'a> {
    offset: u64,
    cut: bool,
    next_seq: &'a mut u32,
}

/// Adds to the last piece as long as it has room and follows, then to new ones.
fn append(pieces: &mut VecDeque<Piece>, mut data: &[u8], place: Place<'_>) {
    let Place { mut offset, mut cut, next_seq } = place;
    while !data.is_empty() {
        let last =
            pieces.back_mut().filter(|last| !cut && last.offset + last.data.len() as u64 == offset);
        let room = last.as_ref().map_or(0, |last| MAX_OUTPUT_CHUNK - last.data.len());
        let fitting = between_characters(data, room);
        let (piece, rest) = match last {
            Some(last) if fitting > 0 => {
                let (piece, rest) = data.split_at(fitting);
                last.data.extend_from_slice(piece);
                (piece, rest)
            }
            _ => {
                let (piece, rest) = data.split_at(between_characters(data, MAX_OUTPUT_CHUNK));
                pieces.push_back(Piece { seq: *next_seq, offset, data: BytesMut::from(piece) });
                *next_seq = next_seq.saturating_add(1);
                (piece, rest)
            }
        };
        cut = false;
        offset += piece.len() as u64;
        data = rest;
    }
}

/// The largest length up to `most` at which `data` is not cut inside a character.
fn between_characters(data: &[u8], most: usize) -> usize {
    if data.len() <= most {
        return data.len();
    }
    most - unfinished(data.split_at(most).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct One {
        buffer: StreamBuffer,
        next_seq: u32,
    }

    impl One {
        fn new(head: usize, tail: usize) -> Self {
            Self { buffer: StreamBuffer::new(head, tail), next_seq: 0 }
        }

        fn push(&mut self, data: &[u8]) {
            self.buffer.push(data, false, &mut self.next_seq);
        }

        fn finish(&mut self) {
            self.buffer.finish(&mut self.next_seq);
        }

        fn all(&mut self) -> Vec<(u32, u64, Vec<u8>)> {
            let mut pieces = Vec::new();
            while let Some(piece) = self.buffer.take() {
                pieces.push((piece.seq, piece.offset, piece.data.to_vec()));
            }
            assert_eq!(self.buffer.pending(), 0);
            pieces
        }
    }

    #[test]
    fn head_and_tail_are_exact_and_the_gap_shows_in_the_offset() {
        let mut one = One::new(5, 3);
        one.push(b"abc");
        assert_eq!(one.all(), [(0, 0, b"abc".to_vec())]);
        one.push(b"defghij");
        assert_eq!(one.all(), [(1, 3, b"de".to_vec())]);
        one.finish();
        assert_eq!(one.all(), [(2, 7, b"hij".to_vec())]);
        assert_eq!(one.buffer.total(), 10);
    }

    #[test]
    fn a_stream_that_fits_has_no_gap_and_one_without_a_head_is_all_tail() {
        let mut one = One::new(5, 5);
        one.push(b"abcdefgh");
        one.finish();
        assert_eq!(one.all(), [(0, 0, b"abcde".to_vec()), (1, 5, b"fgh".to_vec())]);
        let mut one = One::new(0, 2);
        one.push(b"abc");
        assert_eq!(one.all(), []);
        one.finish();
        assert_eq!(one.all(), [(0, 1, b"bc".to_vec())]);
    }

    #[test]
    fn the_tail_is_the_last_bytes_whatever_the_pieces() {
        let text: Vec<u8> = (0..200_000_u32).map(|n| b'a' + (n % 26) as u8).collect();
        for limit in [0, 1, 7, 65_536, 70_000, 199_999, 200_000, 300_000] {
            for piece in [1, 3, 4096, 65_535, 200_000] {
                let mut one = One::new(0, limit);
                for part in text.chunks(piece) {
                    one.push(part);
                }
                one.finish();
                let kept = limit.min(text.len());
                let pieces = one.all();
                let mut at = (text.len() - kept) as u64;
                for (_, offset, data) in &pieces {
                    assert!(*offset == at && data.len() <= MAX_OUTPUT_CHUNK);
                    at += data.len() as u64;
                }
                let bytes: Vec<u8> = pieces.into_iter().flat_map(|(_, _, data)| data).collect();
                assert!(bytes == text[text.len() - kept..], "limit {limit} piece {piece}");
            }
        }
    }

    #[test]
    fn pieces_of_text_are_text_wherever_it_was_read_filled_up_or_shortened() {
        let text = "aä€🦀".repeat(20_000);
        for (head, tail) in [(usize::MAX, 0), (100_001, 70_002), (100_002, 70_003), (3, 5), (0, 1)]
        {
            for piece in [1, 2, 3, 5, 65_536] {
                let mut one = One::new(head, tail);
                let (mut pieces, mut at) = (Vec::new(), 0);
                for part in text.as_bytes().chunks(piece) {
                    one.push(part);
                    at += part.len();
                    // Taken as it comes, as by a follower, for a while.
                    if at < 1000 {
                        pieces.extend(one.all());
                    }
                }
                one.finish();
                pieces.extend(one.all());
                for (_, offset, data) in &pieces {
                    let start = usize::try_from(*offset).unwrap();
                    assert!(data[..] == text.as_bytes()[start..start + data.len()]);
                    assert!(std::str::from_utf8(data).is_ok(), "{head} {tail} {piece}: {offset}");
                }
                let kept: usize = pieces.iter().map(|(_, _, data)| data.len()).sum();
                let wanted = head.saturating_add(tail).min(text.len());
                assert!((wanted.saturating_sub(6)..=wanted).contains(&kept), "{kept} of {wanted}");
            }
        }
    }

    #[test]
    fn a_character_is_held_back_until_it_is_whole_released_or_the_end() {
        let crab = "🦀".as_bytes();
        let mut one = One::new(100, 0);
        one.push(&[b"x", &crab[..3]].concat());
        assert_eq!(one.buffer.waiting(), Waiting { bytes: 1, unfinished: true });
        one.push(&crab[3..]);
        assert_eq!(one.all(), [(0, 0, [b"x", crab].concat())]);
        one.push(&crab[..2]);
        assert_eq!(one.all(), []);
        one.buffer.release(&mut one.next_seq);
        assert_eq!(one.all(), [(1, 5, crab[..2].to_vec())]);
        one.push(&crab[..1]);
        one.finish();
        assert_eq!(one.all(), [(2, 7, crab[..1].to_vec())]);
        assert_eq!(one.buffer.total(), 8);
    }

    #[test]
    fn the_tail_keeps_few_pieces_however_often_it_is_cut() {
        let mut one = One::new(0, 10_000);
        for _ in 0..50_000 {
            one.buffer.push(b"x", true, &mut one.next_seq);
        }
        assert!(one.buffer.tail.len() <= MOST_CUT + 1, "{}", one.buffer.tail.len());
        one.finish();
        assert_eq!(one.all().iter().map(|(_, _, data)| data.len()).sum::<usize>(), 10_000);
    }
}

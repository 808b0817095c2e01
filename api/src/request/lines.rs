//! Cuts a body into lines as it comes.
//!
//! Used by batches of lines. A line over its limit is passed over without being kept, and told as such; blank lines are
//! passed over but counted, so that a line's number is what an editor shows (less one). Where there are far more of them than a
//! batch may have lines, the next one is told as a line: a body of blank lines ends there.

use super::body::Incoming;
use crate::problem::Problem;
use actix_web::web::{Bytes, BytesMut};

/// One line that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NdjsonLine {
    /// Its place among all lines, from 0.
    pub index: usize,
    /// Its bytes, without the line's end; `None` where it is over its limit.
    pub text: Option<Bytes>,
}

/// A body read line by line.
#[derive(Debug)]
pub struct Lines {
    body: Incoming,
    cutter: Cutter,
    ended: bool,
}

impl Lines {
    /// Up to `most` lines of at most `line_limit` bytes.
    pub(crate) fn new(body: Incoming, line_limit: usize, most: usize) -> Self {
        Self { body, cutter: Cutter::new(line_limit, 2 * most), ended: false }
    }

    /// Up to `count` lines; fewer only at the end of the body, and none after it.
    pub(crate) async fn take(&mut self, count: usize) -> Result<Vec<NdjsonLine>, Problem> {
        // Those that were given before are done with.
        self.body.hold().shrink_to(self.cutter.buffer.len());
        let mut lines = Vec::new();
        while lines.len() < count {
            if let Some(line) = self.cutter.next() {
                lines.push(line);
            } else if self.ended {
                break;
            } else if let Some(bytes) = self.body.next().await? {
                self.cutter.push(&bytes);
            } else {
                self.ended = true;
                self.cutter.end();
            }
        }
        Ok(lines)
    }
}

#[derive(Debug)]
struct Cutter {
    limit: usize,
    buffer: BytesMut,
    /// Bytes of the buffer known to hold no line's end.
    searched: usize,
    /// The present line is over its limit: its start is gone already.
    over: bool,
    index: usize,
    /// From this line on a blank one is told, too.
    end: usize,
}

impl Cutter {
    fn new(limit: usize, end: usize) -> Self {
        Self { limit, buffer: BytesMut::new(), searched: 0, over: false, index: 0, end }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// A last line may do without its end.
    fn end(&mut self) {
        if !self.buffer.is_empty() || self.over {
            self.buffer.extend_from_slice(b"\n");
        }
    }

    fn next(&mut self) -> Option<NdjsonLine> {
        loop {
            let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
                self.searched = self.buffer.len();
                // With the two bytes that a line's end may have.
                if self.over || self.searched > self.limit + 1 {
                    self.over = true;
                    self.buffer.clear();
                    self.searched = 0;
                }
                return None;
            };
            let mut text = self.buffer.split_to(self.searched + at + 1).freeze();
            self.searched = 0;
            text.truncate(text.len() - 1);
            if text.last() == Some(&b'\r') {
                text.truncate(text.len() - 1);
            }
            let (index, over) =
                (self.index, std::mem::take(&mut self.over) || text.len() > self.limit);
            self.index += 1;
            if over || index >= self.end {
                return Some(NdjsonLine { index, text: None });
            }
            if !text.iter().all(u8::is_ascii_whitespace) {
                return Some(NdjsonLine { index, text: Some(text) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&str], limit: usize) -> Vec<(usize, Option<String>)> {
        let mut cutter = Cutter::new(limit, 100);
        let mut lines = Vec::new();
        for piece in pieces {
            cutter.push(piece.as_bytes());
            lines.extend(std::iter::from_fn(|| cutter.next()));
        }
        cutter.end();
        lines.extend(std::iter::from_fn(|| cutter.next()));
        let text = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        lines.into_iter().map(|line| (line.index, line.text.map(text))).collect()
    }

    #[test]
    fn lines_are_cut_at_their_ends_wherever_the_body_was() {
        let some = |index, text: &str| (index, Some(text.to_owned()));
        let expected = vec![some(0, "ab"), some(2, "cd"), some(3, "e")];
        assert_eq!(cut(&["ab\n\ncd\r\ne\n"], 9), expected);
        assert_eq!(cut(&["a", "b\n", "\ncd\r", "\ne"], 9), expected);
        assert!(cut(&["", " \n\t\n"], 9).is_empty());
    }

    #[test]
    fn blank_lines_end_where_there_are_far_too_many() {
        let mut cutter = Cutter::new(9, 1000);
        cutter.push(&[b'\n'; 100_000]);
        assert_eq!(cutter.next(), Some(NdjsonLine { index: 1000, text: None }));
    }

    #[test]
    fn a_line_over_its_limit_is_told_and_not_kept() {
        let some = |index, text: &str| (index, Some(text.to_owned()));
        assert_eq!(cut(&["abc\nabcd\r\nabcde\nf"], 4)[2], (2, None));
        let lines = cut(&["abc", "defgh", "ijklmnop\nxy\n", "abcd\r\n"], 4);
        assert_eq!(lines, [(0, None), some(1, "xy"), some(2, "abcd")]);
        assert_eq!(cut(&["abcdefgh"], 4), [(0, None)]);
        let mut cutter = Cutter::new(4, 100);
        for _ in 0..100 {
            cutter.push(b"xxxxxxxx");
            assert_eq!(cutter.next(), None);
            assert!(cutter.buffer.len() <= 8);
        }
    }
}

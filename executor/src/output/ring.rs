//! The last bytes of a stream.
//!
//! Grows to its limit and then overwrites the oldest; a flood costs one copy and no allocation.

#[derive(Debug)]
pub(super) struct Ring {
    limit: usize,
    bytes: Vec<u8>,
    /// Where the oldest byte is, once `bytes` is full.
    oldest: usize,
}

impl Ring {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, bytes: Vec::new(), oldest: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn push(&mut self, data: &[u8]) {
        // Of more than the limit only the end can stay.
        let mut data = data.split_at(data.len().saturating_sub(self.limit)).1;
        let room = self.limit - self.bytes.len();
        if room > 0 {
            let (first, rest) = data.split_at(room.min(data.len()));
            self.bytes.extend_from_slice(first);
            data = rest;
        }
        while !data.is_empty() {
            let (first, rest) = data.split_at(data.len().min(self.limit - self.oldest));
            self.bytes[self.oldest..self.oldest + first.len()].copy_from_slice(first);
            self.oldest = (self.oldest + first.len()) % self.limit;
            data = rest;
        }
    }

    /// All of it, oldest first; empty afterwards.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.bytes.rotate_left(self.oldest);
        self.oldest = 0;
        std::mem::take(&mut self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_keeps_the_last_bytes_whatever_the_pieces() {
        let text: Vec<u8> = (0..=255).collect();
        for limit in [0, 1, 7, 64, 255, 256, 300] {
            for piece in [1, 3, 64, 200, 256] {
                let mut ring = Ring::new(limit);
                for part in text.chunks(piece) {
                    ring.push(part);
                }
                let kept = limit.min(256);
                assert_eq!(ring.len(), kept);
                assert_eq!(ring.take(), text[256 - kept..], "limit {limit} piece {piece}");
            }
        }
    }
}

//! Random orders from a number, so that a failing race can be told apart from another.

use std::ops::Range;

/// A small xorshift generator.
#[derive(Debug, Clone)]
pub struct Shuffle(u64);

impl Shuffle {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, range: Range<usize>) -> usize {
        range.start + usize::try_from(self.next() % (range.len() as u64)).unwrap()
    }

    /// `count` of `items`, in random order, none twice.
    pub fn some<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut all = items.to_vec();
        for at in (1..all.len()).rev() {
            let other = self.below(0..at + 1);
            all.swap(at, other);
        }
        all.truncate(count);
        all
    }
}

//! Which ports of an executor are taken: contiguous blocks, first fit.
//!
//! A task gets one block, so that a lease names its ports in two numbers. Rebuilt from the live
//! leases on adoption; never stored by itself.

use std::collections::BTreeMap;

/// The port range of one executor and the blocks taken from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortBlocks {
    first: u32,
    count: u32,
    /// First port -> length, disjoint.
    taken: BTreeMap<u32, u32>,
}

impl PortBlocks {
    /// An untouched range of `count` ports from `first` on.
    #[must_use]
    pub const fn new(first: u32, count: u32) -> Self {
        Self { first, count, taken: BTreeMap::new() }
    }

    /// Takes the lowest block of `length`; `None` when no gap is long enough. A length of 0 takes nothing.
    pub fn take(&mut self, length: u32) -> Option<u32> {
        let at = self.gaps().find(|(_, gap)| *gap >= length)?.0;
        if length > 0 {
            self.taken.insert(at, length);
        }
        Some(at)
    }

    /// Marks a known block as taken, as on adoption; false where it overlaps another or leaves the range.
    pub fn mark(&mut self, at: u32, length: u32) -> bool {
        if length == 0 {
            return true;
        }
        let inside = self.gaps().any(|(gap_at, gap)| at >= gap_at && at + length <= gap_at + gap);
        if inside {
            self.taken.insert(at, length);
        }
        inside
    }

    /// Gives a block back. Unknown blocks are ignored.
    pub fn release(&mut self, at: u32) {
        self.taken.remove(&at);
    }

    /// Length of the longest gap.
    #[must_use]
    pub fn longest(&self) -> u32 {
        // Nothing taken is by far the commonest case of a large range.
        if self.taken.is_empty() {
            self.count
        } else {
            self.gaps().map(|(_, gap)| gap).max().unwrap_or(0)
        }
    }

    /// Ports not taken.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.count - self.taken.values().sum::<u32>()
    }

    fn gaps(&self) -> impl Iterator<Item = (u32, u32)> {
        let starts = std::iter::once(self.first).chain(self.taken.iter().map(|(at, len)| at + len));
        let ends = self.taken.keys().copied().chain(std::iter::once(self.first + self.count));
        starts.zip(ends).map(|(start, end)| (start, end - start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_are_disjoint_and_come_back() {
        let mut ports = PortBlocks::new(100, 10);
        assert_eq!(ports.take(4), Some(100));
        assert_eq!(ports.take(4), Some(104));
        assert_eq!(ports.take(4), None);
        assert_eq!((ports.free(), ports.longest()), (2, 2));
        ports.release(100);
        assert_eq!(ports.longest(), 4);
        assert_eq!(ports.take(3), Some(100));
    }

    #[test]
    fn an_overlapping_mark_is_refused() {
        let mut ports = PortBlocks::new(100, 10);
        assert!(ports.mark(102, 3));
        assert!(!ports.mark(104, 1));
        assert!(!ports.mark(109, 2));
        assert!(ports.mark(105, 5));
        assert_eq!(ports.take(2), Some(100));
    }

    proptest! {
        #[test]
        fn taken_blocks_never_overlap(steps in proptest::collection::vec((any::<bool>(), 1u32..6), 1..200)) {
            let mut ports = PortBlocks::new(20_000, 64);
            let mut held: Vec<(u32, u32)> = Vec::new();
            for (give_back, length) in steps {
                if give_back && !held.is_empty() {
                    let (at, _) = held.swap_remove(length as usize % held.len());
                    ports.release(at);
                } else if let Some(at) = ports.take(length) {
                    prop_assert!(held.iter().all(|(b, l)| at + length <= *b || b + l <= at));
                    held.push((at, length));
                }
                prop_assert_eq!(ports.free(), 64 - held.iter().map(|h| h.1).sum::<u32>());
            }
        }
    }
}

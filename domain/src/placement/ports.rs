//! Allocation of ports: contiguous blocks, first fit.
//!
//! A task gets one block, so a lease stores its ports as two numbers. Rebuilt from the live leases on adoption; never
//! stored. A held block keeps its ports even if the executor's range has changed; a block partly or wholly outside the
//! range is not granted again. The search for a gap starts where the free ports start: thousands of blocks may be held.

use std::collections::BTreeMap;

/// The port range of one executor and the blocks taken of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortBlocks {
    first: u32,
    count: u32,
    /// First port and length of each block, and its holders: more than one only if leases overlap, which no grant does.
    blocks: BTreeMap<(u32, u32), u32>,
    /// No port of the range below this one is free, and no block of below reaches beyond it.
    searched: u32,
    /// Whether blocks overlap, or did: then `searched` stays at the first port.
    overlapping: bool,
}

impl PortBlocks {
    /// An untouched range of `count` ports from `first` on.
    #[must_use]
    pub const fn new(first: u32, count: u32) -> Self {
        Self { first, count, blocks: BTreeMap::new(), searched: first, overlapping: false }
    }

    /// Acquires the lowest block of `length`; `None` if no gap is long enough. A length of 0 acquires nothing.
    pub fn acquire(&mut self, length: u32) -> Option<u32> {
        if length == 0 {
            return Some(self.first);
        }
        let lowest = self.gaps().next()?.0;
        let at = self.gaps().find(|(_, gap)| *gap >= length)?.0;
        *self.blocks.entry((at, length)).or_default() += 1;
        if !self.overlapping {
            self.searched = if at == lowest { at + length } else { lowest };
        }
        Some(at)
    }

    /// Records a held block, also outside of the range.
    pub fn mark(&mut self, at: u32, length: u32) {
        if length > 0 {
            if self.overlaps(at, length) {
                (self.overlapping, self.searched) = (true, self.first);
            }
            *self.blocks.entry((at, length)).or_default() += 1;
        }
    }

    /// Releases a block. Unknown blocks are ignored.
    pub fn release(&mut self, at: u32, length: u32) {
        if let Some(holders) = self.blocks.get_mut(&(at, length)) {
            *holders -= 1;
            if *holders == 0 {
                self.blocks.remove(&(at, length));
                self.searched = self.searched.min(at.max(self.first));
            }
        }
    }

    /// Length of the longest gap.
    #[must_use]
    pub fn longest(&self) -> u32 {
        // An empty range is the most common case.
        if self.blocks.is_empty() {
            self.count
        } else {
            self.gaps().map(|(_, gap)| gap).max().unwrap_or(0)
        }
    }

    /// Ports not taken.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.gaps().map(|(_, gap)| gap).sum()
    }

    /// Whether a block would share ports with one that is held. Held ones that are disjoint end in the order of their starts.
    fn overlaps(&self, at: u32, length: u32) -> bool {
        let end = at.saturating_add(length);
        let before = self.blocks.range(..(end, 0)).next_back();
        before.is_some_and(|((start, length), _)| start.saturating_add(*length) > at)
    }

    /// First port and length of each run of free ports of the range.
    fn gaps(&self) -> impl Iterator<Item = (u32, u32)> {
        let end = self.first.saturating_add(self.count);
        // One from below the range may reach into it.
        let from = if self.searched == self.first { 0 } else { self.searched };
        let blocks = self
            .blocks
            .range((from, 0)..)
            .map(|((at, length), _)| (*at, at.saturating_add(*length)));
        let last = std::iter::once((end, end));
        let gap = move |free_from: &mut u32, (at, upto): (u32, u32)| {
            let gap = (*free_from, at.min(end).saturating_sub(*free_from));
            *free_from = upto.max(*free_from);
            Some(gap)
        };
        blocks.chain(last).scan(self.searched, gap).filter(|(_, gap)| *gap > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_are_disjoint_and_come_back() {
        let mut ports = PortBlocks::new(100, 10);
        assert_eq!(ports.acquire(4), Some(100));
        assert_eq!(ports.acquire(4), Some(104));
        assert_eq!(ports.acquire(4), None);
        assert_eq!((ports.free(), ports.longest()), (2, 2));
        ports.release(100, 4);
        assert_eq!(ports.longest(), 4);
        assert_eq!(ports.acquire(3), Some(100));
    }

    #[test]
    fn what_is_held_keeps_its_ports_wherever_they_lie_until_all_who_hold_them_give_them_back() {
        let mut ports = PortBlocks::new(100, 10);
        for (at, length) in [(90, 5), (98, 3), (102, 3), (104, 1), (102, 3), (109, 4)] {
            ports.mark(at, length);
        }
        assert_eq!((ports.free(), ports.longest()), (5, 4), "101, and 105 to 108");
        ports.release(102, 3);
        assert_eq!(ports.free(), 5, "another lease has the same block");
        ports.release(102, 3);
        assert_eq!(
            (ports.acquire(3), ports.acquire(4)),
            (Some(101), Some(105)),
            "104 is still held"
        );
        assert_eq!((ports.acquire(1), ports.acquire(0)), (None, Some(100)));
        ports.release(98, 3);
        assert_eq!(ports.acquire(1), Some(100));
    }

    /// Free ports of a range from 100 on, with `held` blocks.
    fn free_ports(count: u32, held: &[(u32, u32)]) -> Vec<u32> {
        let holds = |port: u32| held.iter().any(|(at, length)| (*at..at + length).contains(&port));
        (100..100 + count).filter(|port| !holds(*port)).collect()
    }

    proptest! {
        #[test]
        fn the_lowest_gap_is_taken_whatever_is_held_and_released(
            steps in proptest::collection::vec((0u8..8, 90u32..170, 0u32..6), 1..150)
        ) {
            let mut ports = PortBlocks::new(100, 60);
            let mut held: Vec<(u32, u32)> = Vec::new();
            for (step, at, length) in steps {
                match step {
                    0..=3 => {
                        let free = free_ports(60, &held);
                        let fits = |at: &u32| (*at..at + length.max(1)).all(|port| free.contains(&port));
                        let lowest = free.iter().copied().find(fits);
                        prop_assert_eq!(ports.acquire(length.max(1)), lowest);
                        held.extend(lowest.map(|at| (at, length.max(1))));
                    }
                    4..=6 if !held.is_empty() => {
                        let (at, length) = held.swap_remove(at as usize % held.len());
                        ports.release(at, length);
                    }
                    // Of a lease from before the range changed; seldom, for blocks that overlap slow the search.
                    7 if at % 4 == 0 => {
                        ports.mark(at, length);
                        held.extend((length > 0).then_some((at, length)));
                    }
                    _ => {}
                }
                prop_assert_eq!(ports.free() as usize, free_ports(60, &held).len());
            }
        }

        #[test]
        fn taken_blocks_never_overlap(steps in proptest::collection::vec((any::<bool>(), 1u32..6), 1..200)) {
            let mut ports = PortBlocks::new(20_000, 64);
            let mut held: Vec<(u32, u32)> = Vec::new();
            for (give_back, length) in steps {
                if give_back && !held.is_empty() {
                    let (at, length) = held.swap_remove(length as usize % held.len());
                    ports.release(at, length);
                } else if let Some(at) = ports.acquire(length) {
                    prop_assert!(held.iter().all(|(b, l)| at + length <= *b || b + l <= at));
                    held.push((at, length));
                }
                prop_assert_eq!(ports.free(), 64 - held.iter().map(|h| h.1).sum::<u32>());
            }
        }
    }
}

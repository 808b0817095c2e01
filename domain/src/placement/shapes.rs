//! A set of sizes without room, closed upwards: a size at least as large as a member is a member.
//!
//! A resource manager records and reports sizes that found no room; the batcher skips tasks of these sizes. So one
//! failed try of a size is enough for all its tasks, and small tasks can pass large ones.

use crate::resources::Resources;

/// A set of sizes that contains, with each size, all sizes at least as large in every dimension. Stored as its minimal
/// members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shapes(Vec<Resources>);

impl Shapes {
    /// Maximum of minimal members; beyond it the oldest is dropped and found again by a try.
    pub const MOST: usize = 16;

    /// The minimal members, oldest first.
    #[must_use]
    pub fn least(&self) -> &[Resources] {
        &self.0
    }

    /// True where no size is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True where `size` is in the set.
    #[must_use]
    pub fn covers(&self, size: Resources) -> bool {
        self.0.iter().any(|least| least.fits_in(size))
    }

    /// Adds `size` and everything larger.
    pub fn add(&mut self, size: Resources) {
        if self.covers(size) {
            return;
        }
        self.0.retain(|other| !size.fits_in(*other));
        if self.0.len() == Self::MOST {
            self.0.remove(0);
        }
        self.0.push(size);
    }

    /// Removes minimal members for which `keep` is false, with sizes covered only by them.
    pub fn retain(&mut self, keep: impl FnMut(&Resources) -> bool) {
        self.0.retain(keep);
    }

    /// The intersection.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = Self::default();
        for a in &self.0 {
            for b in &other.0 {
                let (a, b) = (a.dimensions(), b.dimensions());
                both.add(Resources::from_dimensions(std::array::from_fn(|d| a[d].max(b[d]))));
            }
        }
        both
    }
}

impl FromIterator<Resources> for Shapes {
    fn from_iter<I: IntoIterator<Item = Resources>>(sizes: I) -> Self {
        let mut shapes = Self::default();
        sizes.into_iter().for_each(|size| shapes.add(size));
        shapes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(cpu_millis: u32, memory_mib: u32) -> Resources {
        Resources { cpu_millis, memory_mib, ..Resources::default() }
    }

    #[test]
    fn a_size_covers_what_is_larger_and_not_what_differs() {
        let shapes: Shapes = [size(4, 2), size(8, 8), size(1, 9)].into_iter().collect();
        assert_eq!(shapes.least(), [size(4, 2), size(1, 9)]);
        assert!(shapes.covers(size(4, 3)));
        assert!(!shapes.covers(size(3, 8)));
    }

    #[test]
    fn the_oldest_goes_when_there_are_too_many() {
        let shapes: Shapes = (0..20).map(|n| size(n, 100 - n)).collect();
        assert_eq!(shapes.least().len(), Shapes::MOST);
        assert!(!shapes.covers(size(0, 100)));
        assert!(shapes.covers(size(19, 81)));
    }

    proptest! {
        #[test]
        fn an_intersection_covers_what_both_cover(a in proptest::collection::vec((0u32..6, 0u32..6), 0..4), b in proptest::collection::vec((0u32..6, 0u32..6), 0..4)) {
            let a: Shapes = a.into_iter().map(|(c, m)| size(c, m)).collect();
            let b: Shapes = b.into_iter().map(|(c, m)| size(c, m)).collect();
            let both = a.intersection(&b);
            for cpu in 0..7 {
                for memory in 0..7 {
                    let one = size(cpu, memory);
                    prop_assert_eq!(both.covers(one), a.covers(one) && b.covers(one));
                }
            }
        }
    }
}

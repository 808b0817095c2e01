//! What room a pool has, as far as its resource managers tell.

use crate::placement::Shapes;
use crate::resources::Resources;

/// One resource manager's part of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Room for basic tasks now.
    pub free_slots: u64,
    /// Per dimension the most any of its executors has, used or not.
    pub largest: Resources,
    /// Per dimension the most any of its executors has free now; `None` where that is not known.
    pub free: Option<Resources>,
    /// Sizes that found no room there.
    pub lacks: Shapes,
}

/// A pool's room, by resource manager.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rooms(pub Vec<Room>);

impl Rooms {
    /// Room for basic tasks now, over all executors.
    #[must_use]
    pub fn free_slots(&self) -> u64 {
        self.0.iter().map(|room| room.free_slots).sum()
    }

    /// Per dimension the most that any executor has; all 0 where there is none.
    #[must_use]
    pub fn largest(&self) -> Resources {
        let most =
            |d: usize| self.0.iter().map(|room| room.largest.dimensions()[d]).max().unwrap_or(0);
        Resources::from_dimensions(std::array::from_fn(most))
    }

    /// Per dimension the most that any executor has free now; `None` where that is not known of all.
    #[must_use]
    pub fn free(&self) -> Option<Resources> {
        let add = |most: Resources, room: &Room| Some(most.max(room.free?));
        self.0.iter().try_fold(Resources::default(), add)
    }

    /// Less is free, over all executors, than a task of this size takes.
    #[must_use]
    pub fn is_full_for(&self, size: Resources) -> bool {
        self.free_slots() < u64::from(size.slots())
    }

    /// Whether the batcher passes over tasks of this size, as far as is known: no executor could ever hold one, or all who
    /// have room have tried one in vain. Such tasks hold back nobody.
    #[must_use]
    pub fn passes_over(&self, size: Resources) -> bool {
        // One without any room tries nothing.
        let mut roomy = self.0.iter().filter(|room| room.free_slots > 0);
        !size.fits_in(self.largest())
            || (!self.is_full_for(size) && roomy.all(|room| room.lacks.covers(size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Tier;

    #[test]
    fn a_size_is_passed_over_where_all_who_have_room_lack_it() {
        let (basic, premium) = (Tier::Basic.resources(), Tier::Premium.resources());
        let room = |free_slots, lacks: &[Resources]| Room {
            free_slots,
            largest: premium,
            free: None,
            lacks: lacks.iter().copied().collect(),
        };
        assert!(Rooms::default().passes_over(basic), "nobody is there");
        let one = Rooms(vec![room(30, &[premium])]);
        assert!(one.passes_over(premium) && !one.passes_over(basic));
        assert!(!Rooms(vec![room(30, &[premium]), room(1, &[])]).passes_over(premium));
        assert!(Rooms(vec![room(30, &[premium]), room(0, &[])]).passes_over(premium));
        let full = Rooms(vec![room(3, &[premium])]);
        assert!(full.is_full_for(premium) && !full.passes_over(premium));
        let larger = Resources { memory_mib: premium.memory_mib + 1, ..premium };
        assert!(Rooms(vec![room(99, &[])]).passes_over(larger), "too large for all");
    }
}

//! Free room of a pool, as reported by its resource managers.

use crate::placement::Lacks;
use crate::resources::Resources;
use crate::task::{DriverName, DriverSet};

/// Room reported by one resource manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Room for basic tasks now.
    pub free_slots: u64,
    /// Largest capacity of an executor, per dimension.
    pub largest: Resources,
    /// Largest free amount of an executor, per dimension; `None`: unknown.
    pub free: Option<Resources>,
    /// Sizes that found no room there.
    pub lacks: Lacks,
    /// Drivers of its executors.
    pub drivers: DriverSet,
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

    /// Largest capacity of an executor, per dimension; 0 without executors.
    #[must_use]
    pub fn largest(&self) -> Resources {
        let most =
            |d: usize| self.0.iter().map(|room| room.largest.dimensions()[d]).max().unwrap_or(0);
        Resources::from_dimensions(std::array::from_fn(most))
    }

    /// Largest free amount of an executor, per dimension; `None` if unknown for one.
    #[must_use]
    pub fn free(&self) -> Option<Resources> {
        let add = |most: Resources, room: &Room| Some(most.max(room.free?));
        self.0.iter().try_fold(Resources::default(), add)
    }

    /// Whether the free room of all executors is less than a task of this size needs.
    #[must_use]
    pub fn is_full_for(&self, size: Resources) -> bool {
        self.free_slots() < u64::from(size.slots())
    }

    /// Whether an executor has this driver.
    #[must_use]
    pub fn offers(&self, driver: Option<DriverName>) -> bool {
        self.0.iter().any(|room| room.drivers.offers(driver))
    }

    /// Whether the batcher skips tasks of this driver and size: no executor has the driver or could ever hold one, or no
    /// resource manager with room has room for it. Such tasks hold back no others.
    #[must_use]
    pub fn passes_over(&self, driver: Option<DriverName>, size: Resources) -> bool {
        // Without any room it tries none.
        let mut roomy = self.0.iter().filter(|room| room.free_slots > 0);
        !self.offers(driver)
            || !size.fits_in(self.largest())
            || (!self.is_full_for(size) && roomy.all(|room| room.lacks.covers(driver, size)))
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
            drivers: DriverSet::default(),
        };
        let passes_over = |rooms: &Rooms, size| rooms.passes_over(None, size);
        assert!(passes_over(&Rooms::default(), basic), "nobody is there");
        let one = Rooms(vec![room(30, &[premium])]);
        assert!(passes_over(&one, premium) && !passes_over(&one, basic));
        assert!(!passes_over(&Rooms(vec![room(30, &[premium]), room(1, &[])]), premium));
        assert!(passes_over(&Rooms(vec![room(30, &[premium]), room(0, &[])]), premium));
        let full = Rooms(vec![room(3, &[premium])]);
        assert!(full.is_full_for(premium) && !passes_over(&full, premium));
        let larger = Resources { memory_mib: premium.memory_mib + 1, ..premium };
        assert!(passes_over(&Rooms(vec![room(99, &[])]), larger), "too large for all");
        let (noop, http) = ("noop".parse().unwrap(), "http".parse().unwrap());
        let drivers = DriverSet::of([noop]);
        let of_noop = Rooms(vec![Room { drivers, ..room(99, &[]) }]);
        assert!(of_noop.passes_over(Some(http), basic) && !of_noop.passes_over(Some(noop), basic));
        assert!(!passes_over(&of_noop, basic), "its driver is unknown");
    }
}

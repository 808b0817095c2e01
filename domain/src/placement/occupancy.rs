//! Granted and free resources of one executor.
//!
//! Free is capacity less the sum of all held resources. An executor may return with less capacity than its leases hold;
//! then their ends free nothing until the rest fits. Used by resource managers, rebuilt from the live leases when an
//! executor connects.

use super::PortBlocks;
use crate::resources::Resources;

/// What is held of one executor.
#[derive(Debug, Clone)]
pub struct Occupancy {
    capacity: Resources,
    /// Sum of held resources per dimension, exact.
    held: [u64; 5],
    ports: PortBlocks,
}

impl Occupancy {
    /// An empty executor with `capacity` and ports from `port_first`.
    #[must_use]
    pub const fn new(capacity: Resources, port_first: u32) -> Self {
        Self { capacity, held: [0; 5], ports: PortBlocks::new(port_first, capacity.ports) }
    }

    /// All that it has.
    #[must_use]
    pub const fn capacity(&self) -> Resources {
        self.capacity
    }

    /// Capacity less held resources; 0 if more is held.
    #[must_use]
    pub fn free(&self) -> Resources {
        let all = self.capacity.dimensions();
        let free = |d: usize| u64::from(all[d]).saturating_sub(self.held[d]);
        Resources::from_dimensions(std::array::from_fn(|d| {
            u32::try_from(free(d)).unwrap_or(u32::MAX)
        }))
    }

    /// The longest run of free ports.
    #[must_use]
    pub fn port_block(&self) -> u32 {
        self.ports.longest()
    }

    /// Grants `need` and returns its first port; `None` if not free.
    pub fn acquire(&mut self, need: Resources) -> Option<u32> {
        if !need.fits_in(self.free()) {
            return None;
        }
        let port_first = self.ports.acquire(need.ports)?;
        self.add(need);
        Some(port_first)
    }

    /// Records held resources, even if they do not fit.
    pub fn hold(&mut self, held: Resources, port_first: u32) {
        self.ports.mark(port_first, held.ports);
        self.add(held);
    }

    /// Releases held resources.
    pub fn release(&mut self, held: Resources, port_first: u32) {
        self.ports.release(port_first, held.ports);
        for (sum, less) in self.held.iter_mut().zip(held.dimensions()) {
            *sum = sum.saturating_sub(less.into());
        }
    }

    fn add(&mut self, held: Resources) {
        for (sum, more) in self.held.iter_mut().zip(held.dimensions()) {
            *sum = sum.saturating_add(more.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(figure: u32) -> Resources {
        Resources::from_dimensions([figure; 5])
    }

    #[test]
    fn an_executor_that_has_less_than_is_held_grants_again_only_when_the_rest_fits() {
        let mut room = Occupancy::new(of(10), 100);
        let first: Vec<u32> = (0..5).map(|_| room.acquire(of(2)).unwrap()).collect();
        assert_eq!((room.free(), room.acquire(of(1))), (of(0), None));
        let mut less = Occupancy::new(of(5), 100);
        first.iter().for_each(|port| less.hold(of(2), *port));
        for (released, free) in [(0, 0), (1, 0), (2, 1), (3, 3)] {
            less.release(of(2), first[released]);
            assert_eq!(less.free(), of(free), "{} are left", 4 - released);
        }
        // Of its five ports, 100 to 104, the first are free again.
        assert_eq!((less.acquire(of(4)), less.acquire(of(3))), (None, Some(100)));
    }

    /// A step of an executor's life.
    #[derive(Debug, Clone)]
    enum Step {
        /// It comes back with this, and keeps what it holds.
        Has([u32; 5], u32),
        Take([u32; 5]),
        Release(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            1 => (proptest::array::uniform5(0u32..12), 0u32..8).prop_map(|(all, at)| Step::Has(all, at)),
            4 => proptest::array::uniform5(0u32..4).prop_map(Step::Take),
            3 => (0usize..64).prop_map(Step::Release),
        ];
        proptest::collection::vec(step, 1..120)
    }

    proptest! {
        #[test]
        fn in_any_order_nothing_is_granted_beyond_the_capacity_and_no_port_twice(steps in steps()) {
            let mut room = Occupancy::new(of(8), 20);
            let mut held: Vec<(Resources, u32)> = Vec::new();
            for step in steps {
                let sum = |held: &[(Resources, u32)]| {
                    held.iter().fold(Resources::default(), |sum, (one, _)| sum.saturating_add(*one))
                };
                match step {
                    Step::Has(capacity, port_first) => {
                        room = Occupancy::new(Resources::from_dimensions(capacity), 20 + port_first);
                        held.iter().for_each(|(one, port)| room.hold(*one, *port));
                    }
                    Step::Take(need) => {
                        let need = Resources::from_dimensions(need);
                        let before = sum(&held);
                        let fits = need.fits_in(room.capacity().saturating_sub(before));
                        if let Some(at) = room.acquire(need) {
                            // What is held beyond a capacity that shrank stays; none of it is granted again.
                            let after = before.saturating_add(need).dimensions();
                            let most = room.capacity().dimensions();
                            let needs = need.dimensions();
                            prop_assert!((0..5).all(|d| needs[d] == 0 || after[d] <= most[d]));
                            let disjoint = |(other, port): &(Resources, u32)| {
                                at + need.ports <= *port || port + other.ports <= at
                            };
                            let ports = held.iter().filter(|(other, _)| other.ports > 0);
                            prop_assert!(need.ports == 0 || ports.clone().all(disjoint));
                            held.push((need, at));
                        } else {
                            prop_assert!(!fits || need.ports > room.port_block());
                        }
                    }
                    Step::Release(which) if !held.is_empty() => {
                        let (one, port) = held.swap_remove(which % held.len());
                        room.release(one, port);
                    }
                    Step::Release(_) => {}
                }
                prop_assert_eq!(room.free(), room.capacity().saturating_sub(sum(&held)));
            }
        }
    }
}

//! The free room of a pool, from reports of its resource managers.

use domain::batch::PoolLoad;
use domain::id::NodeId;
use domain::placement::Lacks;
use domain::resources::Resources;
use domain::task::DriverSet;
use runtime::clock::Instant;
use std::collections::HashMap;
use std::time::Duration;
use store::load::OwnerLoad;

/// Half-life of the moving average of completions.
const HALF_LIFE: Duration = Duration::from_millis(500);

/// A pool's rate of completions, measured between reports.
#[derive(Debug, Default)]
pub(super) struct PoolRate {
    completed: HashMap<NodeId, u64>,
    per_second: f64,
    at: Option<Instant>,
}

/// The room of a pool in a tick.
#[derive(Debug, Clone)]
pub(super) struct PoolView {
    pub load: PoolLoad,
    /// Per dimension the most any executor has.
    pub largest: Resources,
    /// Per dimension the sum over all executors, which the parts of tenants are measured by.
    pub total: Resources,
    /// Resource managers with room.
    pub owners: usize,
    /// The least room among those.
    pub least_room: u64,
    /// Sizes for which no resource manager has room.
    pub lacks: Lacks,
    /// Drivers of its executors.
    pub drivers: DriverSet,
}

/// Longest age of an estimate.
const MAX_AGE: Duration = Duration::from_millis(100);
/// Age from which it is read again, after a dispatch, while no task waits.
const REFRESH_AGE: Duration = Duration::from_millis(50);

/// The room that was last read, less dispatches since.
/// New free room does not count: so never too much is dispatched, except for the room of an executor that leaves.
#[derive(Debug)]
pub(super) struct RoomEstimate {
    view: PoolView,
    read_at: Instant,
    slots: u64,
    dispatched: u64,
}

impl RoomEstimate {
    /// `slots`: how many could be dispatched.
    pub(super) const fn new(view: PoolView, read_at: Instant, slots: u64) -> Self {
        Self { view, read_at, slots, dispatched: 0 }
    }

    /// Subtracts `slots` that were dispatched.
    pub(super) const fn subtract(&mut self, slots: u64) {
        self.dispatched = self.dispatched.saturating_add(slots);
    }

    /// Whether it should be read again while no task waits.
    pub(super) fn is_old(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.read_at) >= REFRESH_AGE
    }

    /// The pool now; `None` if it must be read again: too old, or half of the room is used.
    pub(super) fn view(&self, now: Instant) -> Option<PoolView> {
        let fresh = now.saturating_duration_since(self.read_at) < MAX_AGE;
        let plenty = self.slots > 0 && self.dispatched <= self.slots / 2;
        (fresh && plenty).then(|| {
            let mut view = self.view.clone();
            view.load.queued_slots = view.load.queued_slots.saturating_add(self.dispatched);
            view
        })
    }
}

impl PoolRate {
    pub(super) fn view(
        &mut self,
        now: Instant,
        loads: &[OwnerLoad],
        queued_slots: u64,
    ) -> PoolView {
        let completed: u64 = loads
            .iter()
            .map(|load| {
                // An owner that is new, or restarted, adds nothing yet.
                let before =
                    self.completed.get(&load.owner).copied().unwrap_or(load.completed_slots);
                load.completed_slots.saturating_sub(before)
            })
            .sum();
        self.completed = loads.iter().map(|load| (load.owner, load.completed_slots)).collect();
        if let Some(before) = self.at {
            let elapsed = now.saturating_duration_since(before).as_secs_f64().max(1e-6);
            let weight = 1.0 - 0.5f64.powf(elapsed / HALF_LIFE.as_secs_f64());
            self.per_second += weight * (completed as f64 / elapsed - self.per_second);
        }
        self.at = Some(now);
        let free_slots: u64 = loads.iter().map(|load| load.free_slots).sum();
        let most =
            |d: usize| loads.iter().map(|load| load.largest.dimensions()[d]).max().unwrap_or(0);
        let largest = Resources::from_dimensions(std::array::from_fn(most));
        let total = loads
            .iter()
            .map(|load| load.total)
            .fold(Resources::default(), Resources::saturating_add);
        let with_room = loads.iter().filter(|load| load.free_slots > 0);
        // A resource manager without room consumes no hints, so its list is stale; if none has room, all count.
        let roomy = |load: &&OwnerLoad| load.free_slots > 0 || free_slots == 0;
        let lacks = loads.iter().filter(roomy).map(|load| load.lacks.clone());
        let lacks = lacks.reduce(|a, b| a.intersection(&b));
        let drivers = loads.iter().fold(DriverSet::of([]), |all, load| all.union(&load.drivers));
        PoolView {
            load: PoolLoad {
                free_slots,
                completed_slots_per_second: self.per_second,
                queued_slots,
            },
            largest,
            total,
            owners: with_room.clone().count().max(1),
            least_room: with_room.map(|load| load.free_slots).min().unwrap_or(1),
            lacks: lacks.unwrap_or_default(),
            drivers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::clock;

    fn room(slots: u64) -> RoomEstimate {
        let load = OwnerLoad {
            owner: NodeId::fresh(),
            free_slots: slots,
            completed_slots: 0,
            largest: Resources::default(),
            total: Resources::default(),
            lacks: Lacks::default(),
            drivers: DriverSet::default(),
        };
        let now = clock::monotonic();
        RoomEstimate::new(PoolRate::default().view(now, &[load], 3), now, slots)
    }

    #[test]
    fn what_is_dispatched_is_counted_as_queued_until_it_is_read_again() {
        let mut room = room(10);
        let now = room.read_at;
        let queued = |room: &RoomEstimate| room.view(now).map(|view| view.load.queued_slots);
        assert_eq!(queued(&room), Some(3));
        room.subtract(2);
        room.subtract(3);
        assert_eq!(queued(&room), Some(8));
        room.subtract(1);
        assert_eq!(queued(&room), None, "more than half of it is used");
    }

    #[test]
    fn no_room_and_old_room_are_read_again() {
        assert!(room(0).view(clock::monotonic()).is_none());
        let known = room(10);
        assert!(known.view(known.read_at + MAX_AGE).is_none());
    }
}

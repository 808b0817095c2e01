//! Room for tasks in tenants' quotas, as of a moment ago.

use domain::id::TenantId;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Due, rooms};

/// A figure is used for so long.
const FRESH: Duration = Duration::from_secs(1);
/// Tenants kept, at most.
const MOST: usize = 50_000;

#[derive(Debug, Default)]
pub(super) struct Rooms(Mutex<HashMap<TenantId, (u64, Instant)>>);

impl Rooms {
    /// Looks how much room the tenants of `due` have, where that is not known well enough.
    pub(super) async fn look(&self, db: &SchedulerDb, due: &[Due]) -> Result<(), StoreError> {
        let now = monotonic();
        let unknown = self.unknown(due.iter().map(|due| due.tenant), now);
        if unknown.is_empty() {
            return Ok(());
        }
        let told: HashMap<_, _> = rooms(db, &unknown).await?.into_iter().collect();
        self.learn(
            unknown.into_iter().map(|t| (t, told.get(&t).copied().unwrap_or(u64::MAX))),
            now,
        );
        Ok(())
    }

    /// Those of `tenants` of which it is not known well enough.
    fn unknown(&self, tenants: impl Iterator<Item = TenantId>, now: Instant) -> Vec<TenantId> {
        let mut known = self.0.lock();
        if known.len() > MOST {
            known.clear();
        }
        let tenants: HashSet<_> =
            tenants.filter(|tenant| !is_fresh(known.get(tenant), now)).collect();
        tenants.into_iter().collect()
    }

    /// Takes up what was told, and was asked for at `asked`.
    fn learn(&self, told: impl Iterator<Item = (TenantId, u64)>, asked: Instant) {
        let mut known = self.0.lock();
        for (tenant, room) in told {
            // Another shard's look may have been quicker, and what it found be given away by now.
            if !is_fresh(known.get(&tenant), asked) {
                known.insert(tenant, (room, asked));
            }
        }
    }

    /// How many more tasks `tenant` may have.
    pub(super) fn of(&self, tenant: TenantId) -> u64 {
        let known = self.0.lock();
        known.get(&tenant).map_or(u64::MAX, |(room, _)| *room)
    }

    /// What `decide` makes of the room of `tenant`, which has so many tasks more then as it says. One decides at a time: what one has
    /// given away no other gives again.
    pub(super) fn give<T>(&self, tenant: TenantId, decide: impl FnOnce(u64) -> (T, u64)) -> T {
        let mut known = self.0.lock();
        match known.get_mut(&tenant) {
            Some((room, _)) => {
                let (decision, tasks) = decide(*room);
                *room = room.saturating_sub(if *room == u64::MAX { 0 } else { tasks });
                decision
            }
            None => decide(u64::MAX).0,
        }
    }
}

fn is_fresh(known: Option<&(u64, Instant)>, now: Instant) -> bool {
    known.is_some_and(|(_, at)| now.saturating_duration_since(*at) < FRESH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_looks_at_once_the_second_gives_nothing_away_again() {
        let (rooms, tenant, now) = (Rooms::default(), TenantId::fresh(), monotonic());
        assert_eq!(rooms.unknown([tenant, tenant].into_iter(), now), [tenant]);
        rooms.learn([(tenant, 3)].into_iter(), now);
        assert_eq!(rooms.give(tenant, |room| (room, 3)), 3);
        rooms.learn([(tenant, 3)].into_iter(), now);
        assert_eq!(rooms.of(tenant), 0);
        let later = now + FRESH;
        assert_eq!(rooms.unknown([tenant].into_iter(), later), [tenant]);
        rooms.learn([(tenant, 2)].into_iter(), later);
        assert_eq!(rooms.of(tenant), 2);
    }
}

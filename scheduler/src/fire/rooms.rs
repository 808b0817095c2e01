//! A cache of free quota of tenants.

use domain::id::TenantId;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Due, rooms};

/// Longest age of a value.
const MAX_AGE: Duration = Duration::from_secs(1);
/// Maximum of cached tenants.
const MAX_TENANTS: usize = 50_000;

#[derive(Debug, Default)]
pub(super) struct Rooms(Mutex<HashMap<TenantId, (u64, Instant)>>);

impl Rooms {
    /// Reads the free quota of tenants of `due` whose cached value is missing or too old.
    pub(super) async fn refresh(&self, db: &SchedulerDb, due: &[Due]) -> Result<(), StoreError> {
        let now = monotonic();
        let outdated = self.outdated(due.iter().map(|due| due.tenant), now);
        if outdated.is_empty() {
            return Ok(());
        }
        let read: HashMap<_, _> = rooms(db, &outdated).await?.into_iter().collect();
        self.record(
            outdated.into_iter().map(|t| (t, read.get(&t).copied().unwrap_or(u64::MAX))),
            now,
        );
        Ok(())
    }

    /// The `tenants` without a fresh value.
    fn outdated(&self, tenants: impl Iterator<Item = TenantId>, now: Instant) -> Vec<TenantId> {
        let mut cached = self.0.lock();
        if cached.len() > MAX_TENANTS {
            cached.clear();
        }
        let tenants: HashSet<_> =
            tenants.filter(|tenant| !is_fresh(cached.get(tenant), now)).collect();
        tenants.into_iter().collect()
    }

    /// Takes up what was told, and was asked for at `sent_at`.
    fn record(&self, read: impl Iterator<Item = (TenantId, u64)>, sent_at: Instant) {
        let mut cached = self.0.lock();
        for (tenant, room) in read {
            // Another shard may have read it meanwhile and reserved from it.
            if !is_fresh(cached.get(&tenant), sent_at) {
                cached.insert(tenant, (room, sent_at));
            }
        }
    }

    /// Free quota of `tenant`.
    pub(super) fn of(&self, tenant: TenantId) -> u64 {
        let cached = self.0.lock();
        cached.get(&tenant).map_or(u64::MAX, |(room, _)| *room)
    }

    /// Calls `decide` with the free quota of `tenant` and subtracts the tasks it returns. Runs under the lock, so quota
    /// is not reserved twice.
    pub(super) fn reserve<T>(&self, tenant: TenantId, decide: impl FnOnce(u64) -> (T, u64)) -> T {
        let mut cached = self.0.lock();
        match cached.get_mut(&tenant) {
            Some((room, _)) => {
                let (decision, tasks) = decide(*room);
                *room = room.saturating_sub(if *room == u64::MAX { 0 } else { tasks });
                decision
            }
            None => decide(u64::MAX).0,
        }
    }
}

fn is_fresh(cached: Option<&(u64, Instant)>, now: Instant) -> bool {
    cached.is_some_and(|(_, at)| now.saturating_duration_since(*at) < MAX_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_looks_at_once_the_second_gives_nothing_away_again() {
        let (rooms, tenant, now) = (Rooms::default(), TenantId::fresh(), monotonic());
        assert_eq!(rooms.outdated([tenant, tenant].into_iter(), now), [tenant]);
        rooms.record([(tenant, 3)].into_iter(), now);
        assert_eq!(rooms.reserve(tenant, |room| (room, 3)), 3);
        rooms.record([(tenant, 3)].into_iter(), now);
        assert_eq!(rooms.of(tenant), 0);
        let later = now + MAX_AGE;
        assert_eq!(rooms.outdated([tenant].into_iter(), later), [tenant]);
        rooms.record([(tenant, 2)].into_iter(), later);
        assert_eq!(rooms.of(tenant), 2);
    }
}

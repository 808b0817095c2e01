//! Room for tasks in tenants' quotas, as of a moment ago.

use domain::id::TenantId;
use runtime::clock::{Instant, monotonic};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
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
        let unknown: HashSet<_> = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() > MOST {
                known.clear();
            }
            let is_fresh = |tenant: &TenantId| {
                known.get(tenant).is_some_and(|(_, at)| now.duration_since(*at) < FRESH)
            };
            due.iter().map(|due| due.tenant).filter(|tenant| !is_fresh(tenant)).collect()
        };
        if unknown.is_empty() {
            return Ok(());
        }
        let unknown: Vec<_> = unknown.into_iter().collect();
        let told: HashMap<_, _> = rooms(db, &unknown).await?.into_iter().collect();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for tenant in unknown {
            known.insert(tenant, (told.get(&tenant).copied().unwrap_or(u64::MAX), now));
        }
        Ok(())
    }

    /// How many more tasks `tenant` may have.
    pub(super) fn of(&self, tenant: TenantId) -> u64 {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&tenant).map_or(u64::MAX, |(room, _)| *room)
    }

    /// So many tasks more are made for it.
    pub(super) fn used(&self, tenant: TenantId, tasks: u64) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((room, _)) = known.get_mut(&tenant) {
            *room = room.saturating_sub(if *room == u64::MAX { 0 } else { tasks });
        }
    }
}

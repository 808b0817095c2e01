//! How many tasks of each concurrency key may run, of the keys whose tasks wait.
//!
//! Read when a key first shows work, and again each second while it does: so a changed limit acts on what waits.

use domain::batch::ConcurrencyKey;
use domain::id::TenantId;
use runtime::clock::Instant;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;
use store::StoreError;
use store::concurrency::limits;
use store::connect::SchedulerDb;
use store::task::Seen;

/// A key without work for this long is forgotten.
const IDLE: Duration = Duration::from_secs(60);

type Key = (TenantId, ConcurrencyKey);

/// The limits of keys with work, and when that was last seen.
#[derive(Debug, Default)]
pub(super) struct Keys(HashMap<Key, (u64, Instant)>);

impl Keys {
    /// Reads all known limits again.
    pub(super) async fn refresh(
        &mut self,
        db: &SchedulerDb,
        now: Instant,
    ) -> Result<(), StoreError> {
        self.0.retain(|_, (_, seen)| now.saturating_duration_since(*seen) < IDLE);
        let all: Vec<Key> = self.0.keys().cloned().collect();
        self.read(db, all).await
    }

    /// Reads the limits of those keys in `seen` that are not known; says whether there were any.
    pub(super) async fn learn(
        &mut self,
        db: &SchedulerDb,
        seen: &Seen,
        now: Instant,
    ) -> Result<bool, StoreError> {
        let mut unknown = Vec::new();
        for strand in &seen.strands {
            let Some(key) = strand.key.clone().map(|key| (strand.tenant, key)) else { continue };
            match self.0.entry(key) {
                Entry::Occupied(mut known) => known.get_mut().1 = now,
                Entry::Vacant(free) => {
                    unknown.push(free.key().clone());
                    free.insert((ConcurrencyKey::USUAL_LIMIT.into(), now));
                }
            }
        }
        let any = !unknown.is_empty();
        self.read(db, unknown).await?;
        Ok(any)
    }

    /// The limits.
    pub(super) fn limits(&self) -> impl Iterator<Item = (Key, u64)> {
        self.0.iter().map(|(key, (limit, _))| (key.clone(), *limit))
    }

    /// No key has work.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    async fn read(&mut self, db: &SchedulerDb, keys: Vec<Key>) -> Result<(), StoreError> {
        if keys.is_empty() {
            return Ok(());
        }
        let stored: HashMap<Key, u64> = limits(db, &keys).await?.into_iter().collect();
        for key in keys {
            let limit = stored.get(&key).copied().unwrap_or(ConcurrencyKey::USUAL_LIMIT.into());
            self.0.entry(key).and_modify(|known| known.0 = limit);
        }
        Ok(())
    }
}

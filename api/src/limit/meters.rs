//! The meters of all tenants that came lately.
//!
//! In shards, so that worker threads do not wait for each other. Bounded: a tick forgets the meters whose loss changes nothing.

use super::admission::Rates;
use super::counting::Counted;
use super::meter::Meter;
use super::moment::Moment;
use domain::id::TenantId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

const SHARDS: usize = 16;

type Shard = Mutex<HashMap<TenantId, Arc<Meter>>>;

/// The meters.
#[derive(Debug)]
pub(super) struct Meters {
    shards: [Shard; SHARDS],
}

impl Meters {
    pub(super) fn new() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()) }
    }

    /// The tenant's meter; made where it is not there.
    pub(super) fn of(
        &self,
        tenant: TenantId,
        rates: Rates,
        counted: Counted,
        now: impl FnOnce() -> Moment,
    ) -> Arc<Meter> {
        // The last bits of an id are random.
        let shard = (tenant.uuid().as_u128() % SHARDS as u128) as usize;
        let mut meters = self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
        let meter = meters
            .entry(tenant)
            .or_insert_with(|| Arc::new(Meter::new(tenant, rates, counted, &now())));
        Arc::clone(meter)
    }

    /// All of them, as of now.
    pub(super) fn all(&self) -> Vec<Arc<Meter>> {
        let shards = self.shards.iter();
        let locked = shards.map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner));
        locked.flat_map(|meters| meters.values().map(Arc::clone).collect::<Vec<_>>()).collect()
    }

    /// Forgets those that need not be kept; says how many are left.
    pub(super) fn forget_quiet(&self, now: &Moment) -> usize {
        let mut left = 0;
        for shard in &self.shards {
            let mut meters = shard.lock().unwrap_or_else(PoisonError::into_inner);
            // One that a request holds stays: it may be about to take from it.
            meters.retain(|_, meter| Arc::strong_count(meter) > 1 || !meter.is_forgettable(now));
            left += meters.len();
        }
        left
    }
}

//! One tenant's bucket in this process.
//!
//! Every request of a tenant has it from authentication to its answer, which shows what is left. The lease is under a lock that is
//! never held over an await.

use super::decision::{Moment, Rates};
use super::lease::Lease;
use super::mode::Mode;
use domain::id::TenantId;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::rate::HourlyUse;
use tokio::sync::{OnceCell, Semaphore};

/// A tenant's bucket.
#[derive(Debug)]
pub(crate) struct TenantBucket {
    pub(super) tenant: TenantId,
    lease: Mutex<Lease>,
    /// Filled once the checkpoint of the hour is read.
    pub(super) restored: OnceCell<()>,
    /// One permit: one submission calls Redis, for all that wait for it. One that is served from the lease does not wait.
    pub(super) calls: Arc<Semaphore>,
    waiting: AtomicU64,
}

/// Tasks that wait for a call to Redis, until this is dropped.
pub(super) struct Waiting(Arc<TenantBucket>, u64);

impl Waiting {
    /// Counts `tasks` among those that wait.
    pub(super) fn new(bucket: &Arc<TenantBucket>, tasks: u64) -> Self {
        bucket.waiting.fetch_add(tasks, Ordering::Relaxed);
        Self(Arc::clone(bucket), tasks)
    }

    /// Tasks of all that wait.
    pub(super) fn all(&self) -> u64 {
        self.0.waiting.load(Ordering::Relaxed)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(self.1, Ordering::Relaxed);
    }
}

impl TenantBucket {
    pub(super) fn new(tenant: TenantId, rates: Rates, mode: Mode) -> Self {
        Self {
            tenant,
            lease: Mutex::new(Lease::new(rates, mode, &Moment::now())),
            restored: OnceCell::new(),
            calls: Arc::new(Semaphore::new(1)),
            waiting: AtomicU64::new(0),
        }
    }

    pub(super) fn lease(&self) -> MutexGuard<'_, Lease> {
        self.lease.lock()
    }

    /// The tenant's plan as of this request.
    pub(super) fn set_rates(&self, rates: Rates) {
        let mut lease = self.lease();
        if lease.rates() != rates {
            lease.set_rates(rates, &Moment::now());
        }
    }

    /// What to write down, where there is an hourly limit and something was used; with what is owed to Redis, or without.
    pub(super) fn checkpoint(&self, adds_owed: bool, now: &Moment) -> Option<HourlyUse> {
        let lease = self.lease();
        let used = lease.kept_of_hour(adds_owed, now);
        let is_kept = lease.rates().per_hour > 0 && used > 0;
        is_kept.then(|| HourlyUse { tenant: self.tenant, hour: now.hour(), used })
    }
}

//! A fair semaphore over tenants: a bound for the process, and a lower one for each tenant.
//!
//! Used for expensive work of the HTTP threads and for storing batches. A request waits first for a permit of its tenant, then for one of
//! the process. So however many requests one tenant sends, a request of another waits for one of them at most.

use crate::problem::{Code, Problem};
use domain::id::TenantId;
use runtime::low_priority;
use runtime::turns::{NoTurn, Turn, TurnLimits, Turns};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The semaphore; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct FairShare {
    of_tenant: Turns<TenantId>,
    of_all: Arc<Semaphore>,
}

/// A permit, released when it is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    _one_of_all: OwnedSemaphorePermit,
    _of_tenant: Turn<TenantId>,
}

impl FairShare {
    /// `most` permits for the process, and for each tenant as `limits` say.
    pub(crate) fn new(most: usize, limits: TurnLimits) -> Self {
        Self { of_tenant: Turns::new(limits), of_all: Arc::new(Semaphore::new(most)) }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// `too_many_at_once` where as many of the tenant wait as may, or it waited for too long.
    pub(crate) async fn take(&self, tenant: TenantId) -> Result<Taken, Problem> {
        let too_many = |NoTurn| Problem::new(Code::TooManyAtOnce, Code::TooManyAtOnce.advice());
        let of_tenant = self.of_tenant.acquire(tenant).await.map_err(too_many)?;
        let one_of_all = Arc::clone(&self.of_all).acquire_owned().await;
        let one_of_all =
            one_of_all.map_err(|_| Problem::new(Code::Unavailable, "The service is stopping."))?;
        Ok(Taken { _one_of_all: one_of_all, _of_tenant: of_tenant })
    }

    /// Runs `work`, which needs more than a few milliseconds of processor time, on a thread of low priority, so that the HTTP threads go on
    /// with other requests.
    ///
    /// # Errors
    /// Those of [`Self::take`] and of `work`; `internal` when it panics.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        tenant: TenantId,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let taken = self.take(tenant).await?;
        let working = low_priority::spawn(move || {
            // As long as the work takes, also when nobody waits for it any more.
            let _taken = taken;
            work()
        });
        working.await.map_err(|error| {
            Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error)
        })?
    }
}

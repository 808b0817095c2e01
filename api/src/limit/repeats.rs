//! Requests that were answered before: they cost nothing, and are answered again where a limit or a quota is used up.
//!
//! Asked only of a request that would be refused otherwise. The rule: it is no way round the limit, so a tenant has so many look-ups
//! a second in each process and no more.

use super::limiter::Limiter;
use super::meter::Meter;
use domain::rate::Flow;
use store::idempotency::IdempotencyKey;
use store::{StoreError, TenantScope};

/// Look-ups of one tenant in one process: a second, and at once.
const LOOK_UPS: (u32, u32) = (100, 200);

pub(super) fn look_ups() -> Flow {
    Flow::new(LOOK_UPS.0, LOOK_UPS.1)
}

impl Limiter {
    /// Whether the tenant used `key` before; what comes of it is decided when the request is stored. Not, where too many asked.
    ///
    /// # Errors
    /// What the database said.
    pub(crate) async fn is_repeated(
        &self,
        meter: &Meter,
        key: Option<&IdempotencyKey>,
    ) -> Result<bool, StoreError> {
        match key {
            Some(key) if meter.look_up(&self.now()) => {
                store::idempotency::stands(&self.db, &TenantScope::new(meter.tenant()), key).await
            }
            Some(_) | None => Ok(false),
        }
    }
}

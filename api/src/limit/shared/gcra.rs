//! Calls of the script `gcra.lua`.

use super::connection::Redis;
use super::failure::Failure;
use crate::limit::decision::{Rates, Shortage};
use api_types::RateName;
use domain::id::TenantId;
use domain::rate::Hour;
use runtime::clock::{Instant, monotonic};
use std::time::Duration;

/// What is asked of a tenant's bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeaseRequest {
    pub rates: Rates,
    /// Tokens.
    pub wanted: u64,
    /// Tokens given back; below 0: admitted without a lease.
    pub balance: i64,
    /// When the first of these was.
    pub balance_since: Instant,
    /// The same of `hour`.
    pub hour_balance: i64,
    /// The hour of `hour_balance` and `used`.
    pub hour: Hour,
    /// Used of it as this process knows, in case Redis has lost it.
    pub used: u64,
    /// When it learned that.
    pub used_at: Instant,
}

/// What was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    /// Tokens.
    pub tokens: u64,
    /// Why not all.
    pub shortage: Option<Shortage>,
    /// Tokens left in the bucket.
    pub left: u64,
    /// The hour, by the clock of Redis.
    pub hour: Hour,
    /// Used of it; 0 without an hourly limit.
    pub used: u64,
}

/// Reply of the script.
type Reply = (u64, u64, u64, u64, i64, u64);

impl Redis {
    /// Leases tokens of `tenant`, and gives some back.
    ///
    /// # Errors
    /// When Redis does not answer in time, where it may have happened, or buckets do not count yet.
    pub(crate) async fn lease(
        &self,
        tenant: TenantId,
        request: &LeaseRequest,
    ) -> Result<Grant, Failure> {
        let (rates, now) = (request.rates, monotonic());
        let mut call = self.script.prepare_invoke();
        call.key(self.epoch_key())
            .key(self.tenant_key(tenant))
            .arg(0)
            .arg(rates.per_second)
            .arg(rates.burst)
            .arg(rates.per_hour)
            .arg(request.wanted)
            .arg(request.balance)
            .arg(micros(now - request.balance_since))
            .arg(request.hour_balance)
            .arg(request.hour.0)
            .arg(request.used)
            .arg(micros(now - request.used_at));
        let mut connection = self.connection();
        let (tokens, limit, wait, left, hour, used): Reply =
            self.in_time(call.invoke_async(&mut connection)).await?;
        let limit = match limit {
            1 => Some(RateName::SubmitsPerSecond),
            2 => Some(RateName::SubmitsPerHour),
            _ => None,
        };
        let shortage = limit.map(|limit| Shortage { limit, wait: Duration::from_micros(wait) });
        Ok(Grant { tokens, shortage, left, hour: Hour(hour), used })
    }

    /// Says that this process is served, again after `away` where it was not; returns how long until buckets count.
    ///
    /// # Errors
    /// As [`Self::lease`].
    pub(crate) async fn report_served(&self, away: Duration) -> Result<Duration, Failure> {
        let mut call = self.script.prepare_invoke();
        call.key(self.epoch_key()).arg(micros(away));
        let mut connection = self.connection();
        let reply: Reply = self.in_time(call.invoke_async(&mut connection)).await?;
        Ok(Duration::from_micros(reply.2))
    }

    /// The key of all buckets' common start.
    pub(super) fn epoch_key(&self) -> String {
        self.key("epoch")
    }

    /// The key of the tenant's bucket and hour.
    pub(super) fn tenant_key(&self, tenant: TenantId) -> String {
        self.key(&format!("rate:{}", tenant.uuid().simple()))
    }
}

/// As the script counts.
fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

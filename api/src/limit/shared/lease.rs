//! Takes tokens of a tenant's bucket.

use super::away::Away;
use super::connection::{Redis, micros};
use crate::limit::admission::{Limit, Rates, Shortage};
use domain::id::TenantId;
use domain::rate::Hour;
use std::time::Duration;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ask {
    pub rates: Rates,
    /// Tokens.
    pub wanted: u64,
    /// Tokens given back; below 0: admitted without a lease.
    pub back: i64,
    /// How long ago the first of these was; nothing is owed of before buckets began anew.
    pub owed_for: Duration,
    /// The same of `hour`.
    pub hour_back: i64,
    /// The hour that `hour_back` and `used` are of.
    pub hour: Hour,
    /// Used of it as this process knows, in case Redis has forgotten.
    pub used: u64,
    /// How long ago it learned that.
    pub known_for: Duration,
}

/// What was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lease {
    pub granted: u64,
    /// Where it is less than wanted.
    pub shortage: Option<Shortage>,
    /// Tokens left in the bucket.
    pub left: u64,
    /// The hour, by Redis.
    pub hour: Hour,
    /// Used of it; 0 without an hourly limit.
    pub used: u64,
}

/// What Redis says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Leased(Lease),
    /// Buckets do not count yet: see `probe`.
    NotYet,
}

impl Redis {
    /// Takes tokens of `tenant`, and gives some back.
    ///
    /// # Errors
    /// When Redis does not answer in time. It may have happened.
    pub(crate) async fn lease(&self, tenant: TenantId, ask: &Ask) -> Result<Answer, Away> {
        let mut connection = self.connection();
        let mut call = self.lease.prepare_invoke();
        call.key(self.key(&format!("rate:{}", tenant.uuid().simple())))
            .key(self.since_key())
            .arg(ask.rates.per_second)
            .arg(ask.rates.burst)
            .arg(ask.rates.per_hour)
            .arg(ask.wanted)
            .arg(ask.back)
            .arg(ask.hour_back)
            .arg(ask.hour.0)
            .arg(ask.used)
            .arg(micros(ask.owed_for))
            .arg(micros(ask.known_for));
        let (granted, limit, wait_us, left, hour, used): (i64, i64, i64, i64, i64, i64) =
            self.in_time(call.invoke_async(&mut connection)).await?;
        let Ok(granted) = u64::try_from(granted) else { return Ok(Answer::NotYet) };
        let wait = Duration::from_micros(u64::try_from(wait_us).unwrap_or_default());
        let limit = match limit {
            1 => Some(Limit::PerSecond),
            2 => Some(Limit::PerHour),
            _ => None,
        };
        Ok(Answer::Leased(Lease {
            granted,
            shortage: limit.map(|limit| Shortage { limit, wait }),
            left: u64::try_from(left).unwrap_or_default(),
            hour: Hour(hour),
            used: u64::try_from(used).unwrap_or_default(),
        }))
    }
}

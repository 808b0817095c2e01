//! The metrics of rate limits; docs/limits.md lists them.

use super::shared::Cause;
use api_types::RateName;
use runtime::metrics::{Counter, CounterVec, Gauge, GaugeVec, counter, gauge};

/// The limiter's metrics.
pub(super) struct Metrics {
    limited: CounterVec,
    pub admitted: Counter,
    pub calls: CounterVec,
    pub failures: Counter,
    pub local: Gauge,
    pub replicas: Gauge,
    away: GaugeVec,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let (refused, admitted) = (
            "Requests of peers and submitted tasks refused by a rate limit",
            "Submitted tasks admitted by rate limits",
        );
        let (local, replicas) =
            ("1 while limits are enforced without Redis", "Live api processes known to this one");
        let metrics = Self {
            limited: counter("berth_limited_total", refused, &["limit"]),
            admitted: counter("berth_limit_admitted_total", admitted, &[]).with(&[]),
            calls: counter(
                "berth_limit_redis_calls_total",
                "Calls to Redis, by purpose",
                &["call"],
            ),
            failures: counter(
                "berth_limit_redis_failures_total",
                "Calls to Redis that failed or were not answered in time",
                &[],
            )
            .with(&[]),
            local: gauge("berth_limit_local", local, &[]).with(&[]),
            replicas: gauge("berth_api_replicas", replicas, &[]).with(&[]),
            away: gauge("berth_limit_redis_away", "1 while Redis fails for this cause", &["cause"]),
        };
        for &limit in RateName::ALL {
            metrics.limited(limit, 0);
        }
        metrics.away_by(None);
        metrics
    }

    pub(super) fn limited(&self, limit: RateName, count: u64) {
        self.limited.with(&[limit.as_str()]).inc_by(count);
    }

    /// Redis does not serve for this cause; none: it does.
    pub(super) fn away_by(&self, present: Option<Cause>) {
        for cause in Cause::ALL {
            self.away.with(&[cause.as_str()]).set(f64::from(u8::from(Some(cause) == present)));
        }
    }
}

//! What is counted of counting.

use super::admission::Limit;
use super::shared::Cause;
use runtime::metrics::{Counter, CounterVec, Gauge, counter, gauge};

/// The limiter's metrics.
pub(super) struct Figures {
    limited: [Counter; 4],
    pub admitted: Counter,
    calls: CounterVec,
    pub failures: Counter,
    /// 1 while this process holds its share for itself.
    pub local: Gauge,
    pub replicas: Gauge,
    away: [(Cause, Gauge); Cause::ALL.len()],
}

impl Figures {
    pub(super) fn new() -> Self {
        let limited = counter(
            "berth_limited_total",
            "Requests of peers and submitted tasks refused by a rate limit",
            &["limit"],
        );
        let of = |limit: Limit| limited.with(&[limit.as_str()]);
        let admitted =
            counter("berth_limit_admitted_total", "Submitted tasks admitted by rate limits", &[]);
        let calls =
            counter("berth_limit_redis_calls_total", "Calls to Redis, by what for", &["call"]);
        let failures =
            counter("berth_limit_redis_failures_total", "Calls to Redis without an answer", &[]);
        let local = gauge("berth_limit_local", "1 while limits are held without Redis", &[]);
        let away = gauge(
            "berth_limit_redis_away",
            "1 while Redis does not serve rate limits for this cause",
            &["cause"],
        );
        let replicas = gauge("berth_api_replicas", "Live api processes, as this one knows", &[]);
        Self {
            limited: [
                of(Limit::Peer),
                of(Limit::PeerSignIns),
                of(Limit::PerSecond),
                of(Limit::PerHour),
            ],
            admitted: admitted.with(&[]),
            calls,
            failures: failures.with(&[]),
            local: local.with(&[]),
            replicas: replicas.with(&[]),
            away: Cause::ALL.map(|cause| (cause, away.with(&[cause.as_str()]))),
        }
    }

    /// Redis does not serve for this cause; none: it does.
    pub(super) fn away_by(&self, present: Option<Cause>) {
        for (cause, gauge) in &self.away {
            gauge.set(f64::from(u8::from(Some(*cause) == present)));
        }
    }

    pub(super) fn limited(&self, limit: Limit, count: u64) {
        let [peer, sign_ins, per_second, per_hour] = &self.limited;
        match limit {
            Limit::Peer => peer.inc_by(count),
            Limit::PeerSignIns => sign_ins.inc_by(count),
            Limit::PerSecond => per_second.inc_by(count),
            Limit::PerHour => per_hour.inc_by(count),
        }
    }

    /// The counter of one kind of call.
    pub(super) fn calls(&self, call: &str) -> Counter {
        self.calls.with(&[call])
    }
}

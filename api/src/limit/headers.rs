//! `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), on every answer to a tenant.
//!
//! What is left is what this process knows: other processes' admissions are seen with its next lease. The policy is written once for a plan,
//! the rest costs one small allocation an answer.

use super::admission::Rates;
use super::meter::Left;
use actix_web::http::header::{HeaderName, HeaderValue};
use std::fmt::Write;
use std::time::Duration;

pub(super) static RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub(super) static RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The header `RateLimit-Policy` of a plan.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    rates: Rates,
    is_local: bool,
    pub value: HeaderValue,
}

impl Policy {
    /// `is_local`: this process holds its share of it.
    pub(super) fn new(rates: Rates, is_local: bool) -> Self {
        let local = if is_local { ";berth-local" } else { "" };
        let Rates { per_second, burst, per_hour } = rates;
        let mut text = format!("\"default\";q={per_second};w=1;berth-burst={burst}{local}");
        if per_hour > 0 {
            // Writing to a text cannot fail.
            let _ = write!(text, ", \"hourly\";q={per_hour};w=3600{local}");
        }
        Self { rates, is_local, value: value(text) }
    }

    pub(super) fn is_of(&self, rates: Rates, is_local: bool) -> bool {
        self.rates == rates && self.is_local == is_local
    }
}

/// The header `RateLimit`.
pub(super) fn rate_limit(left: &Left) -> HeaderValue {
    let mut text = String::with_capacity(64);
    let _ = write!(text, "\"default\";r={};t={}", left.tokens, seconds(left.full_in));
    if let Some(hour) = left.hour {
        let _ = write!(text, ", \"hourly\";r={};t={}", hour.tasks, seconds(hour.rest));
    }
    value(text)
}

/// Whole seconds, rounded up: who waits that long does not come too early.
pub(super) fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("\"default\""))
}

#[cfg(test)]
mod tests {
    use super::super::meter::HourLeft;
    use super::*;

    #[test]
    fn the_headers_are_in_the_form_of_the_draft() {
        let rates = Rates { per_second: 10, burst: 20, per_hour: 1000 };
        let policy = |rates, local| Policy::new(rates, local).value;
        assert_eq!(
            policy(rates, false),
            "\"default\";q=10;w=1;berth-burst=20, \"hourly\";q=1000;w=3600"
        );
        let unbounded = Rates { per_hour: 0, ..rates };
        assert_eq!(policy(unbounded, true), "\"default\";q=10;w=1;berth-burst=20;berth-local");
        let left = Left {
            rates,
            tokens: 7,
            used: 13,
            full_in: Duration::from_millis(1300),
            hour: Some(HourLeft { tasks: 990, used: 10, rest: Duration::from_secs(60) }),
        };
        assert_eq!(rate_limit(&left), "\"default\";r=7;t=2, \"hourly\";r=990;t=60");
    }
}

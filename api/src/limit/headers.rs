//! `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), on every answer to a tenant.

use super::decision::Rates;
use super::lease::RateUse;
use actix_web::http::header::{HeaderName, HeaderValue};
use std::fmt::Write;
use std::time::Duration;

pub(super) static RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub(super) static RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The header `RateLimit-Policy`. `is_local`: this process enforces its share.
pub(super) fn policy(rates: Rates, is_local: bool) -> HeaderValue {
    let local = if is_local { ";berth-local" } else { "" };
    let Rates { per_second, burst, per_hour } = rates;
    let mut text = format!("\"default\";q={per_second};w=1;berth-burst={burst}{local}");
    if per_hour > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, ", \"hourly\";q={per_hour};w=3600{local}");
    }
    value(text)
}

/// The header `RateLimit`.
pub(super) fn rate_limit((burst, hour): (RateUse, Option<RateUse>)) -> HeaderValue {
    let mut text = String::with_capacity(64);
    let _ = write!(text, "\"default\";r={};t={}", burst.left, seconds(burst.whole_in));
    if let Some(hour) = hour {
        let _ = write!(text, ", \"hourly\";r={};t={}", hour.left, seconds(hour.whole_in));
    }
    value(text)
}

/// Whole seconds, rounded up: a client that waits that long does not come too early.
pub(super) fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("\"default\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use api_types::RateName;

    #[test]
    fn the_headers_are_in_the_form_of_the_draft() {
        let rates = Rates { per_second: 10, burst: 20, per_hour: 1000 };
        assert_eq!(
            policy(rates, false),
            "\"default\";q=10;w=1;berth-burst=20, \"hourly\";q=1000;w=3600"
        );
        let unbounded = Rates { per_hour: 0, ..rates };
        assert_eq!(policy(unbounded, true), "\"default\";q=10;w=1;berth-burst=20;berth-local");
        let rate = |limit, left, ms| {
            let whole_in = Duration::from_millis(ms);
            RateUse { limit, most: 0, used: 0, left, whole_in }
        };
        let uses = (
            rate(RateName::SubmitsPerSecond, 7, 1300),
            Some(rate(RateName::SubmitsPerHour, 990, 60_000)),
        );
        assert_eq!(rate_limit(uses), "\"default\";r=7;t=2, \"hourly\";r=990;t=60");
    }
}

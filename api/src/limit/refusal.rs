//! The answer to a request that a limit refused: which limit, when to come back, which plan allows more.

use super::decision::{Rates, Shortage};
use super::headers::seconds;
use crate::problem::{Code, Limited, Problem};
use api_types::RateName;
use domain::id::PlanName;
use domain::time::Timestamp;
use runtime::clock::wall;
use std::time::Duration;

/// Of each refused task of a batch that was admitted in part.
const ITEM: &str = "The rate limit of your plan admitted a part of the batch; submit this task again at `retry_at`.";

/// Refuses a whole request.
pub(super) fn whole(shortage: Shortage, rates: Rates, lifted_by: Option<&PlanName>) -> Problem {
    let Shortage { limit, wait } = shortage;
    let wait = seconds(wait).max(1);
    let mut detail = match limit {
        RateName::PeerRequestsPerSecond => {
            format!("Too many requests came from your address; come back in {wait} s.")
        }
        RateName::PeerSignInsPerSecond => {
            format!("Too many tries to come in came from your address; come back in {wait} s.")
        }
        RateName::SubmitsPerSecond => format!(
            "Your plan takes {} submitted tasks a second and {} at once; come back in {wait} s.",
            rates.per_second, rates.burst
        ),
        RateName::SubmitsPerHour => format!(
            "Your plan takes {} submitted tasks an hour, and this hour has had them; come back in {wait} s.",
            rates.per_hour
        ),
    };
    if let Some(plan) = lifted_by {
        detail.push_str(&format!(" The plan `{plan}` allows more."));
    }
    let limited = limited(shortage, lifted_by.cloned());
    Problem::new(Code::RateLimited, detail).limited(limited)
}

/// Refuses one task of a batch of which others were admitted.
pub(crate) fn of_item(shortage: Shortage) -> Problem {
    Problem::new(Code::RateLimited, ITEM).limited(limited(shortage, None))
}

fn limited(shortage: Shortage, lifted_by: Option<PlanName>) -> Limited {
    let Shortage { limit, wait } = shortage;
    let retry_after = u32::try_from(seconds(wait)).unwrap_or(u32::MAX).max(1);
    Limited { limit, retry_at: later(wall(), wait), retry_after, lifted_by }
}

fn later(now: Timestamp, wait: Duration) -> Timestamp {
    chrono::TimeDelta::from_std(wait)
        .ok()
        .and_then(|wait| now.checked_add_signed(wait))
        .unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_which_limit_when_to_come_back_and_what_lifts_it() {
        let rates = Rates { per_second: 10, burst: 20, per_hour: 1000 };
        let plan: PlanName = "default".parse().unwrap();
        let shortage =
            Shortage { limit: RateName::SubmitsPerHour, wait: Duration::from_millis(59_001) };
        let problem = whole(shortage, rates, Some(&plan));
        assert_eq!(problem.retry_after(), Some(60));
        assert!(problem.detail().contains("1000 submitted tasks an hour"), "{}", problem.detail());
        assert!(problem.detail().contains("`default` allows more"), "{}", problem.detail());
        let soon = Shortage { limit: RateName::SubmitsPerSecond, wait: Duration::from_micros(3) };
        assert_eq!(whole(soon, rates, None).retry_after(), Some(1), "never at once");
        assert_eq!(of_item(soon).code(), Code::RateLimited);
    }
}

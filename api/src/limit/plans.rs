//! Which plans there are, so that a refusal can say which one allows more.
//!
//! Read by a tick, never for a request: a tenant over its limit must not cost a look-up each time.

use super::decision::Rates;
use api_types::RateName;
use domain::id::PlanName;
use domain::plan::PlanLimits;
use parking_lot::RwLock;
use std::sync::Arc;
use store::StoreError;
use store::connect::SubmitDb;

/// The plans, as last read.
#[derive(Debug, Default)]
pub(super) struct Plans(RwLock<Arc<[(PlanName, PlanLimits)]>>);

impl Plans {
    /// Reads them.
    pub(super) async fn read(&self, db: &SubmitDb) -> Result<(), StoreError> {
        *self.0.write() = store::plan::list_for_customers(db).await?.into();
        Ok(())
    }

    /// The plan that allows more of `limit` than `rates`, and of these the least.
    pub(super) fn that_lifts(&self, limit: RateName, rates: Rates) -> Option<PlanName> {
        let plans = Arc::clone(&self.0.read());
        next(&plans, limit, rates).cloned()
    }
}

fn next<N>(plans: &[(N, PlanLimits)], limit: RateName, present: Rates) -> Option<&N> {
    let of = |rates: Rates| match (limit, rates.per_hour) {
        (RateName::PeerRequestsPerSecond | RateName::PeerSignInsPerSecond, _) => 0,
        (RateName::SubmitsPerSecond, _) => rates.per_second,
        // None is more than any.
        (RateName::SubmitsPerHour, 0) => u32::MAX,
        (RateName::SubmitsPerHour, per_hour) => per_hour,
    };
    let more = plans.iter().filter(|(_, limits)| of(Rates::from(limits)) > of(present));
    more.min_by_key(|(_, limits)| of(Rates::from(limits))).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_plan_that_allows_more_is_named() {
        let plan = |submits_per_second, submits_per_hour| PlanLimits {
            submits_per_second,
            submits_per_hour,
            ..PlanLimits::default()
        };
        let plans = [("big", plan(1000, 0)), ("free", plan(10, 100)), ("small", plan(50, 500))];
        let next = |limit, name| {
            let (_, limits) = plans.iter().find(|(n, _)| *n == name).unwrap();
            next(&plans, limit, Rates::from(limits)).copied()
        };
        assert_eq!(next(RateName::SubmitsPerSecond, "free"), Some("small"));
        assert_eq!(next(RateName::SubmitsPerHour, "free"), Some("small"));
        assert_eq!(next(RateName::SubmitsPerHour, "small"), Some("big"));
        assert_eq!(next(RateName::SubmitsPerSecond, "big"), None);
        assert_eq!(next(RateName::SubmitsPerHour, "big"), None);
        assert_eq!(next(RateName::PeerRequestsPerSecond, "free"), None);
    }
}

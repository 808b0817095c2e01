//! What follows a result: its event and, for a retry, when it runs and what it waits for.

use super::group::meaning;
use super::reported::Reported;
use crate::retry::Budgets;
use domain::budget::AttemptEnd;
use domain::task::{AttemptOutcome, Event};
use std::time::Duration;
use store::held_retry::HeldRetry;

/// What a settlement writes in addition to the outcome.
#[derive(Debug, Clone, Default)]
pub(super) struct Next {
    pub retry_after: Duration,
    pub held: Option<HeldRetry>,
}

/// The event of one result and what follows; `None` if the task's policy is needed and unknown. `unit` returns random
/// numbers in 0.0..1.0.
///
/// The target's account is updated here, before the settlement: a repeated report counts twice.
pub(super) fn next(
    budgets: &Budgets,
    reported: &Reported,
    mut unit: impl FnMut() -> f64,
) -> Option<(Event, Next)> {
    let meaning = meaning(reported, unit())?;
    let mut next = Next { retry_after: meaning.retry_after, held: None };
    let target = reported.held.as_ref().and_then(|held| Some((held, held.target.as_ref()?)));
    let success = match reported.ended.outcome {
        AttemptOutcome::Succeeded => Some(true),
        AttemptOutcome::Failed | AttemptOutcome::KilledCap | AttemptOutcome::KilledResources => {
            Some(false)
        }
        // Says nothing about the target.
        AttemptOutcome::Stopped
        | AttemptOutcome::Lost
        | AttemptOutcome::HandedBack
        | AttemptOutcome::NotStarted => None,
    };
    if let (Some((lease, target)), Some(success)) = (target, success) {
        let again = meaning.event == Event::AttemptFailed;
        let tenant = reported.ended.lease.tenant;
        let end = AttemptEnd { first: lease.failures == 0, success };
        let hold = budgets.ended(tenant, target, end, again);
        if let Some(hold) = hold {
            next.held = Some(HeldRetry { target: target.clone(), back_off: meaning.retry_after });
            // Jitter from half of it, so that retries held together do not run together.
            next.retry_after = meaning.retry_after + hold.mul_f64(0.5 + unit() / 2.0);
        }
    }
    Some((meaning.event, next))
}

//! Sorts results by the event they raise.

use super::reported::Reported;
use crate::fleet::HeldLease;
use domain::task::{AttemptEnd, AttemptOutcome, Event, RetryDecision, RetryOn, decide_retry};
use std::time::Duration;

/// Effect of a result on its task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Meaning {
    pub event: Event,
    pub retry_after: Duration,
}

/// The event of one result. `unit` is a random number in 0.0..1.0.
///
/// `None` if the decision needs the task's policy and the lease is not in memory: it is read first.
pub(super) fn meaning(reported: &Reported, unit: f64) -> Option<Meaning> {
    let at_once = |event| Some(Meaning { event, retry_after: Duration::ZERO });
    match reported.ended.outcome {
        AttemptOutcome::Succeeded if reported.called => at_once(Event::Called),
        AttemptOutcome::Succeeded => at_once(Event::Completed),
        AttemptOutcome::Stopped => at_once(Event::Stopped),
        // Without a known lease the attempt has already lost it.
        AttemptOutcome::NotStarted => Some(came_back(reported, Event::NotStarted, unit)),
        // Both had started: with at-most-once delivery the task ends.
        outcome @ (AttemptOutcome::HandedBack | AttemptOutcome::Lost) => {
            if reported.held.as_ref()?.at_most_once {
                return at_once(Event::LeaseLapsedForGood);
            }
            let handed_back = outcome == AttemptOutcome::HandedBack;
            let event = if handed_back { Event::HandedBack } else { Event::LeaseLapsed };
            Some(came_back(reported, event, unit))
        }
        AttemptOutcome::Failed | AttemptOutcome::KilledCap | AttemptOutcome::KilledResources => {
            let (held, ended) = (reported.held.as_ref()?, &reported.ended);
            let how = RetryOn::of(ended.outcome)?;
            let end = AttemptEnd { how, exit_code: ended.exit_code, signal: ended.signal };
            let (failures, most) = (held.failures + 1, held.max_attempts);
            let policy = held.retry.clone().unwrap_or_default();
            let decision = decide_retry(&policy, failures, most, end, unit);
            match decision.not_before(reported.retry_after) {
                RetryDecision::After(retry_after) => {
                    Some(Meaning { event: Event::AttemptFailed, retry_after })
                }
                RetryDecision::Exhausted => at_once(Event::AttemptsExhausted),
                RetryDecision::Abort => at_once(Event::AttemptAborted),
                RetryDecision::Killed => at_once(Event::AttemptKilled),
            }
        }
    }
}

/// The first return raises `event` without a back-off; later ones wait.
fn came_back(reported: &Reported, event: Event, unit: f64) -> Meaning {
    let attempt = reported.ended.lease.attempt;
    let wait = |held: &HeldLease| held.wait_after_return(attempt, unit);
    let retry_after = reported.held.as_ref().map_or(Duration::ZERO, wait);
    Meaning { event: if retry_after.is_zero() { event } else { Event::ReturnedAgain }, retry_after }
}

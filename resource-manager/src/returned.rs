//! Ends attempts that were returned without a report; the task is ready again at once or after a back-off.

use crate::fleet::{HeldLease, Released};
use crate::random::unit;
use domain::task::AttemptOutcome;
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::lease::LeaseKey;
use store::task::transition::{EndedAttempt, lease_lapsed, not_started, returned_again};

const NEVER: &str = "the executor did not take it up";
const LOST: &str = "the executor does not have it any more";

/// Ends all: confirmed ones (`taken_up`) as lost, the rest as never started.
///
/// # Errors
/// When the database fails; some may then be ended, each once.
pub(crate) async fn end_returned(
    db: &RmDb,
    gone: &[Released],
    taken_up: impl Fn(&HeldLease) -> bool,
) -> Result<(), StoreError> {
    let (mut never, mut lost): (Vec<EndedAttempt>, Vec<(LeaseKey, bool)>) = Default::default();
    let (mut again, mut waits): (Vec<EndedAttempt>, Vec<Duration>) = Default::default();
    for Released { key, lease } in gone {
        let taken_up = taken_up(lease);
        let wait = lease.wait_after_return(key.attempt, unit());
        if taken_up && (lease.at_most_once || wait.is_zero()) {
            lost.push((*key, lease.at_most_once));
            continue;
        }
        let (outcome, reason) = if taken_up {
            (AttemptOutcome::Lost, LOST)
        } else {
            (AttemptOutcome::NotStarted, NEVER)
        };
        let ended = EndedAttempt::bare(*key, outcome, reason);
        if wait.is_zero() {
            never.push(ended);
        } else {
            again.push(ended);
            waits.push(wait);
        }
    }
    if !never.is_empty() {
        not_started(db, &never).await?;
    }
    if !again.is_empty() {
        returned_again(db, &again, &waits).await?;
    }
    if !lost.is_empty() {
        lease_lapsed(db, &lost).await?;
    }
    Ok(())
}

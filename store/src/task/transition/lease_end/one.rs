//! The end of one lease in a transaction of its caller, whichever event it is.

use super::with_results::with_results;
use super::{EndedAttempt, for_good, to_go_on};
use crate::StoreError;
use crate::task::transition::TransitionResult;
use domain::task::Event;
use domain::time::millis;
use sqlx::PgConnection;
use std::slice::from_ref;
use std::time::Duration;

/// Raises `event` for the lease of `ended`. A task that goes on is due after `wait`.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub(crate) async fn end_lease_in(
    tx: &mut PgConnection,
    event: Event,
    ended: &EndedAttempt,
    wait: Duration,
) -> Result<TransitionResult, StoreError> {
    let one = from_ref(ended);
    let answers = match event {
        Event::AttemptFailed => to_go_on(tx, event, one, &[millis(wait)]).await?,
        Event::Completed if ended.value.is_some() => with_results(tx, one).await?,
        _ => for_good(tx, event, one).await?,
    };
    Ok(answers.first().copied().unwrap_or(TransitionResult::NotFound))
}

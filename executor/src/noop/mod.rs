//! The driver that does nothing, for a while: for measuring everything around it.
//!
//! It has to be cheap: an attempt costs no task of the runtime, and one that sleeps for no time no timer.

use crate::driver::{Attempt, Driver, Ending, Services, Started};
use domain::task::{AttemptOutcome, NoopRun};
use serde_json::Value;

/// As tasks name it.
pub(crate) const NAME: &str = "noop";

pub(crate) struct NoopDriver;

impl Driver for NoopDriver {
    fn start(
        &self,
        run: Value,
        attempt: Attempt,
        _services: &Services,
    ) -> Result<Started, serde_json::Error> {
        let NoopRun { sleep } = serde_json::from_value(run)?;
        let done = Ending::plain(AttemptOutcome::Succeeded, "");
        if sleep.is_zero() {
            return Ok(Started::Ended(done));
        }
        let then = if sleep > attempt.cap { Ending::over_cap(attempt.cap) } else { done };
        Ok(Started::Sleeps { until: attempt.received + sleep.min(attempt.cap), then })
    }
}

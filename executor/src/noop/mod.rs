//! The driver that does nothing, for a while: for measuring everything around it.
//!
//! It has to be cheap: an attempt costs no task of the runtime, and one that sleeps for no time no timer.

use crate::driver::{Attempt, Driver, Ending, Services, Started};
use domain::task::{AttemptOutcome, NoopRun};

pub(crate) struct NoopDriver;

impl Driver for NoopDriver {
    type Run = NoopRun;

    fn start(&self, run: NoopRun, attempt: Attempt, _services: &Services) -> Started {
        let NoopRun { sleep } = run;
        let done = Ending::plain(AttemptOutcome::Succeeded, "");
        if sleep.is_zero() {
            return Started::Ended(done);
        }
        let then = if sleep > attempt.cap { Ending::over_cap(attempt.cap) } else { done };
        Started::Sleeps { until: attempt.received + sleep.min(attempt.cap), then }
    }
}

//! The trait, and what starting an attempt leads to.

use super::attempt::Attempt;
use super::ending::Ending;
use super::services::Services;
use crate::output::AttemptOutput;
use runtime::clock::Instant;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// One way to run attempts.
pub(crate) trait Driver {
    /// What a task gives this driver.
    type Run;

    /// Starts an attempt of `run`. Does not block: longer work goes to [`Services::spawn`].
    fn start(&self, run: Self::Run, attempt: Attempt, services: &Services) -> Started;
}

/// How an attempt goes on.
pub(crate) enum Started {
    /// It is over already.
    Ended(Ending),
    /// It does nothing until a time, and then it has ended so. Asked to end, it ends at once.
    Sleeps { until: Instant, then: Ending },
    /// It runs, and ends with what was spawned for it.
    Runs { stop: Box<dyn Stop>, output: Arc<AttemptOutput> },
}

/// Ends a running attempt.
pub(crate) trait Stop: Debug + Send + Sync {
    /// Asks it to end within `grace`, or kills it where there is none. Comes again only to kill what was asked before.
    fn stop(&self, grace: Option<Duration>);
}

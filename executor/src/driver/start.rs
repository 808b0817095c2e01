//! The trait, and what starting an attempt leads to.

use super::attempt::Attempt;
use super::ending::Ending;
use super::services::Services;
use crate::output::AttemptOutput;
use runtime::clock::Instant;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// One way to run attempts.
pub(crate) trait Driver: Send + Sync {
    /// Starts an attempt of `run`, which is what the task gives this driver. Does not block: longer work goes to
    /// [`Services::spawn`].
    ///
    /// # Errors
    /// When `run` cannot be read. Then nothing was started.
    fn start(
        &self,
        run: Value,
        attempt: Attempt,
        services: &Services,
    ) -> Result<Started, serde_json::Error>;
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

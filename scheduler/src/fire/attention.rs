//! How often to look for what is seldom there.

use super::reading::POLL;
use runtime::clock::{self, Instant};
use std::time::Duration;

/// From one look to the next where there was nothing for [`QUIET`]. No longer than the shortest interval of a schedule, so that even
/// then what follows an end is known before it is due.
const REST: Duration = Duration::from_secs(1);
/// Longer than most schedules lie between two of their tasks: what fires often is looked at often.
const QUIET: Duration = Duration::from_secs(120);

/// Close while there is something, and for a while after.
#[derive(Debug, Default)]
pub(super) struct Attention {
    seen: Option<Instant>,
}

impl Attention {
    /// There was something, or not.
    pub(super) fn saw(&mut self, something: bool) {
        if something {
            self.seen = Some(clock::monotonic());
        }
    }

    /// Until the next look.
    pub(super) fn pause(&self) -> Duration {
        let quiet = self.seen.is_none_or(|seen| seen.elapsed() > QUIET);
        if quiet { REST } else { POLL }
    }
}

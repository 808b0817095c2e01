//! What the settler receives.

use crate::fleet::{HeldLease, Stream};
use std::sync::Arc;
use std::time::Duration;
use store::session::SessionOwner;
use store::task::transition::EndedAttempt;

/// One result, to be settled and answered on its stream.
#[derive(Debug)]
pub(crate) struct Reported {
    pub stream: Stream,
    pub ended: EndedAttempt,
    /// The executor's part has ended; its task runs on without it.
    pub called: bool,
    /// How long the called server asked to wait before another attempt.
    pub retry_after: Option<Duration>,
    /// What is known of the lease; `None` for one of an earlier session.
    pub held: Option<HeldLease>,
    /// Who reports it, where it is of another session than the stream's: it counts where that one was of the same executor.
    pub of_another: Option<Arc<SessionOwner>>,
    /// Output groups that must be stored before.
    pub after_output: u64,
}

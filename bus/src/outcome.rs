//! How a publish ended.
//!
//! Every batch gets exactly one outcome, within the publish time limit, whatever the broker does.
//! Only `Confirmed` means that it arrived. After any other outcome the hint may still be on the queue,
//! so the caller returns the tasks to `ready`, and the dispatch epoch makes the old hint stale.

/// The outcome of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PublishOutcome {
    /// The broker has it on the pool's queue.
    Confirmed,
    /// There was no queue. It has been declared again; the batch is lost.
    Returned,
    /// The broker refused it. This also happens while two processes declare a new pool's queue at once.
    Nacked,
    /// No confirm within `bus.publish_timeout`. It may be on the queue.
    TimedOut,
    /// No connection, or it broke before the confirm. It may be on the queue.
    ConnectionLost,
    /// The broker accepts nothing (memory or disk alarm). It was not sent.
    Blocked,
}

impl PublishOutcome {
    /// True for [`Self::Confirmed`] only.
    #[must_use]
    pub const fn is_confirmed(self) -> bool {
        matches!(self, Self::Confirmed)
    }

    /// Its name in logs and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The last known state of the connection to the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConnectionState {
    /// Not connected; trying to connect.
    Connecting,
    /// Connected, and the broker accepts messages.
    Connected,
    /// Connected, but the broker accepts no messages (memory or disk alarm).
    Blocked,
    /// Shut down for good.
    Closed,
}

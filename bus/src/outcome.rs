//! How a publish ended.
//!
//! Every batch gets exactly one answer, within the publish time limit, whatever the broker does.
//! Only `Direct` and `Confirmed` mean that it arrived; after any other answer the hint may still be
//! there, so the caller gives the tasks back and lets the dispatch epoch tell the two apart.

/// The answer to one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PublishOutcome {
    /// A resource manager has done with it: it went past the broker.
    Direct,
    /// The broker has it on a queue.
    Confirmed,
    /// There was no queue. It has been declared again; the batch is gone.
    Returned,
    /// The broker refused it; also in the first moments of a pool whose queue two processes declare at once.
    Nacked,
    /// No answer within the limit. It may be on the queue.
    TimedOut,
    /// No connection, or it broke before the answer. It may be on the queue.
    ConnectionLost,
    /// The broker is out of memory or disk and takes nothing; not sent.
    Blocked,
}

impl PublishOutcome {
    /// True for [`Self::Direct`] and [`Self::Confirmed`].
    #[must_use]
    pub const fn is_confirmed(self) -> bool {
        matches!(self, Self::Direct | Self::Confirmed)
    }

    /// Its name in logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Confirmed => "confirmed",
            Self::Returned => "returned",
            Self::Nacked => "nacked",
            Self::TimedOut => "timed_out",
            Self::ConnectionLost => "connection_lost",
            Self::Blocked => "blocked",
        }
    }
}

/// Whether the broker can be reached, as last seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConnectionState {
    /// Not connected; trying.
    Connecting,
    /// Connected, and it takes messages.
    Connected,
    /// Connected, but the broker takes no messages (its memory or disk alarm).
    Blocked,
    /// Shut down for good.
    Closed,
}

//! What can be wrong with a queue of the broker, for `berth doctor`.

use std::fmt;

/// A queue that differs from what this release declares; the text is its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueFault {
    /// It does not exist. It is declared at the next hint.
    Missing(String),
    /// It was declared with other arguments.
    OtherArguments(String),
}

impl fmt::Display for QueueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(queue) => write!(f, "{queue} does not exist"),
            Self::OtherArguments(queue) => write!(f, "{queue} has other arguments"),
        }
    }
}

/// Result of a check of the broker's queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueReport {
    /// The bus is in this process: there are no queues.
    NoBroker,
    /// All were checked; these differ.
    Checked(Vec<QueueFault>),
    /// The broker could not be reached; the text is the cause.
    Unreachable(String),
}

//! What can be wrong with a queue of the broker.

use std::fmt;

/// A queue that is not as this release declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueFault {
    /// There is none of this name. It is declared at the next hint.
    Missing(String),
    /// It was declared with other arguments.
    Otherwise(String),
}

impl fmt::Display for QueueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(queue) => write!(f, "{queue} is not there"),
            Self::Otherwise(queue) => write!(f, "{queue} has other arguments"),
        }
    }
}

/// What is known of the broker's queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueuesSeen {
    /// The bus is in this process: there are none.
    NoBroker,
    /// All were looked at; these are not as they should be.
    Looked(Vec<QueueFault>),
    /// The broker could not be asked, and why.
    Unreachable(String),
}

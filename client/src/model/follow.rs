//! Events of a followed task.

use api_types::{FollowedState, LogChunk};

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub enum FollowEvent {
    /// Output.
    Output(LogChunk),
    /// The state at the start, or a change of it.
    State(FollowedState),
    /// It has finished and all output was received. The last event.
    End(FollowedState),
}

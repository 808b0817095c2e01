//! Events of a followed task.

use super::LogChunk;
use domain::task::State;
use serde::Deserialize;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowEvent {
    /// Output.
    Output(LogChunk),
    /// The state at the start, or a change of it.
    State(FollowedState),
    /// It has finished and all output was received. The last event.
    End(FollowedState),
}

/// State of a followed task.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FollowedState {
    /// Its state.
    pub state: State,
    /// Its latest attempt; 0 before the first.
    pub attempt: u32,
    /// Exit code of the last attempt, once it has ended.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// Reason of its end.
    #[serde(default)]
    pub reason: Option<String>,
}

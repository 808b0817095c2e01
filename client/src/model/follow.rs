//! What happens to a task that is followed.

use super::LogChunk;
use domain::task::State;
use serde::Deserialize;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowEvent {
    /// It wrote something.
    Output(LogChunk),
    /// It is in another state than before, or was in this one when the following began.
    State(FollowedState),
    /// It has ended, and all its output was told. Nothing comes after this.
    End(FollowedState),
}

/// Where a followed task is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FollowedState {
    /// Its state.
    pub state: State,
    /// Its latest attempt; 0 before the first.
    pub attempt: u32,
    /// Exit code of the last attempt, once it has ended.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// Why it ended as it did.
    #[serde(default)]
    pub reason: Option<String>,
}

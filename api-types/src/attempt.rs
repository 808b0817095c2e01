//! `GET /v1/tasks/{id}/attempts`: the attempts of a task.

use crate::{DateTime, Extensible};
use domain::id::ExecutorId;
use domain::task::AttemptOutcome;
use serde::{Deserialize, Serialize};

/// An attempt of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Attempt {
    /// Number, from 1.
    pub attempt: u32,
    /// `running`, or how it ended.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::AttemptState))]
    pub state: Extensible<AttemptState>,
    /// False: lost to infrastructure; free, and not counted against `max_attempts`.
    pub charged: bool,
    /// Name of its executor.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub executor: Option<ExecutorId>,
    /// When it was placed on an executor.
    pub placed_at: DateTime,
    /// When it ended.
    pub ended_at: Option<DateTime>,
    /// Billed time in ms.
    pub usage_ms: i64,
    /// Exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Reason of its end.
    pub reason: Option<String>,
    /// Bytes written to standard output, stored or not.
    pub stdout_bytes: i64,
    /// Bytes written to standard error, stored or not.
    pub stderr_bytes: i64,
    /// Some of its output was not stored: the quota `stored_output_bytes` of your plan was used up.
    pub output_over_quota: bool,
}

/// Whether an attempt runs, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptState {
    /// It runs.
    Running,
    /// It has ended.
    #[serde(untagged)]
    Ended(AttemptOutcome),
}

/// `None` while it runs.
impl From<Option<AttemptOutcome>> for AttemptState {
    fn from(outcome: Option<AttemptOutcome>) -> Self {
        outcome.map_or(Self::Running, Self::Ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_one_word() {
        for (state, word) in [(None, "running"), (Some(AttemptOutcome::KilledCap), "killed_cap")] {
            let state = AttemptState::from(state);
            assert_eq!(serde_json::to_value(state).unwrap(), word);
            assert_eq!(serde_json::from_value::<AttemptState>(word.into()).unwrap(), state);
        }
        assert!(serde_json::from_value::<AttemptState>("frozen".into()).is_err());
    }
}

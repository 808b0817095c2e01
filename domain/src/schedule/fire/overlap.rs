//! Overlap policies.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Overlap policy: what a due time does while an earlier task of the schedule is unfinished.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// It creates no task.
    #[default]
    Skip,
    /// It creates a task that waits for the previous one, unless one already waits.
    BufferOne,
    /// It creates a task that waits for all previous ones.
    BufferAll,
    /// It cancels them and creates a task.
    CancelOther,
    /// It creates a task that runs in parallel.
    Allow,
}

/// A text is not an overlap policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected skip, buffer_one, buffer_all, cancel_other or allow")]
pub struct ParseOverlapError;

impl Overlap {
    /// Every policy.
    pub const ALL: [Self; 5] =
        [Self::Skip, Self::BufferOne, Self::BufferAll, Self::CancelOther, Self::Allow];

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether its tasks are serialized, by a concurrency key of the schedule.
    #[must_use]
    pub const fn is_buffered(self) -> bool {
        matches!(self, Self::BufferOne | Self::BufferAll)
    }
}

impl FromStr for Overlap {
    type Err = ParseOverlapError;

    fn from_str(text: &str) -> Result<Self, ParseOverlapError> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == text).ok_or(ParseOverlapError)
    }
}

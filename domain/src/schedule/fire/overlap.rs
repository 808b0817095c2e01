//! What a schedule does when it is due while tasks of its own still live.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What a due time does while an earlier task of the schedule has not ended.
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
    /// It makes no task.
    #[default]
    Skip,
    /// It makes a task that waits for the one before, unless one waits already.
    BufferOne,
    /// It makes a task that waits for all before.
    BufferAll,
    /// It cancels them and makes a task.
    CancelOther,
    /// It makes a task that runs beside them.
    Allow,
}

/// A text names no overlap policy.
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

    /// Whether its tasks run one after the other, by a concurrency key of the schedule's own.
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

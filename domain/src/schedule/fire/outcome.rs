//! What became of one due time.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What became of a due time. The first two made a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It made a task in time.
    Fired,
    /// It made a task more than a second after it was due.
    Late,
    /// The task before had not ended, or a newer due time took its place.
    SkippedOverlap,
    /// It was overdue and became one with a newer overdue time.
    CollapsedMisfire,
    /// It was overdue, and such ones are left out.
    SkippedMisfire,
    /// The schedule was paused.
    Paused,
    /// The tenant was suspended.
    Suspended,
    /// The tenant had no room for another task.
    ShedQuota,
    /// The pool of its task is none, or not granted to its tenant.
    PoolUnavailable,
}

/// A text names no outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected fired, late, skipped_overlap, collapsed_misfire, skipped_misfire, paused, suspended, shed_quota or pool_unavailable"
)]
pub struct ParseFireOutcomeError;

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 9] = [
        Self::Fired,
        Self::Late,
        Self::SkippedOverlap,
        Self::CollapsedMisfire,
        Self::SkippedMisfire,
        Self::Paused,
        Self::Suspended,
        Self::ShedQuota,
        Self::PoolUnavailable,
    ];

    /// Its name in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Late => "late",
            Self::SkippedOverlap => "skipped_overlap",
            Self::CollapsedMisfire => "collapsed_misfire",
            Self::SkippedMisfire => "skipped_misfire",
            Self::Paused => "paused",
            Self::Suspended => "suspended",
            Self::ShedQuota => "shed_quota",
            Self::PoolUnavailable => "pool_unavailable",
        }
    }

    /// Whether a task came of it.
    #[must_use]
    pub const fn makes_task(self) -> bool {
        matches!(self, Self::Fired | Self::Late)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Outcome {
    type Err = ParseFireOutcomeError;

    fn from_str(text: &str) -> Result<Self, ParseFireOutcomeError> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text).ok_or(ParseFireOutcomeError)
    }
}

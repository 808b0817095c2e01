//! What became of one due time.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What became of a due time. The first two made a task.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
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
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether a task came of it.
    #[must_use]
    pub const fn makes_task(self) -> bool {
        matches!(self, Self::Fired | Self::Late)
    }
}

impl FromStr for Outcome {
    type Err = ParseFireOutcomeError;

    fn from_str(text: &str) -> Result<Self, ParseFireOutcomeError> {
        Self::ALL
            .iter()
            .copied()
            .find(|outcome| outcome.as_str() == text)
            .ok_or(ParseFireOutcomeError)
    }
}

//! Outcomes of due times.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Outcome of a due time. The first two create a task, or start a workflow run.
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
    /// It created a task in time.
    Fired,
    /// It created a task more than a second late.
    Late,
    /// The previous task was unfinished, or a newer due time replaced it.
    SkippedOverlap,
    /// It was a misfire and merged into a newer one.
    CollapsedMisfire,
    /// It was a misfire and skipped.
    SkippedMisfire,
    /// The schedule was paused.
    Paused,
    /// The tenant was suspended.
    Suspended,
    /// A quota of the tenant was used up.
    ShedQuota,
    /// The pool of its task does not exist or is not granted to its tenant.
    PoolUnavailable,
    /// Its workflow does not exist, or cannot run with its input.
    WorkflowUnavailable,
    /// A spend cap of the tenant has no room for its task.
    ShedSpendCap,
}

/// A text is not an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected fired, late, skipped_overlap, collapsed_misfire, skipped_misfire, paused, suspended, shed_quota, pool_unavailable, workflow_unavailable or shed_spend_cap"
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

    /// Whether it created a task or started a run.
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

//! How one attempt ended.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How one attempt ended. The last three cost the customer nothing.
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
pub enum AttemptOutcome {
    /// It did what it was asked.
    Succeeded,
    /// Non-zero exit, a signal of its own, or it could not be started.
    Failed,
    /// Killed: over its execution cap.
    KilledCap,
    /// Killed: over its resources.
    KilledResources,
    /// Stopped because its owner cancelled it.
    Stopped,
    /// The executor vanished or fenced itself.
    Lost,
    /// Given back by a draining executor.
    HandedBack,
    /// Never started.
    NotStarted,
}

impl AttemptOutcome {
    /// Every outcome.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// True when the attempt counts against `max_attempts` and is billed.
    #[must_use]
    pub const fn is_charged(self) -> bool {
        match self {
            Self::Succeeded
            | Self::Failed
            | Self::KilledCap
            | Self::KilledResources
            | Self::Stopped => true,
            Self::Lost | Self::HandedBack | Self::NotStarted => false,
        }
    }

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A text is no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an attempt outcome")]
pub struct ParseOutcomeError(pub String);

impl FromStr for AttemptOutcome {
    type Err = ParseOutcomeError;

    fn from_str(text: &str) -> Result<Self, ParseOutcomeError> {
        let found = Self::ALL.iter().copied().find(|outcome| outcome.as_str() == text);
        found.ok_or_else(|| ParseOutcomeError(text.to_owned()))
    }
}

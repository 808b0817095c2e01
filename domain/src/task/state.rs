//! The thirteen states of a task. Where each leads is in [`super::transition`].

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Where a task is in its life.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Its time is not there yet.
    Scheduled,
    /// May run now; waits for its turn.
    Ready,
    /// Handed to the broker as a hint, with a dispatch epoch.
    Queued,
    /// Placed on an executor under a live lease.
    Running,
    /// Asked to stop while running.
    Cancelling,
    /// An attempt failed or was lost; another will come at a set time.
    Retrying,
    /// Ended: did what it was asked.
    Succeeded,
    /// Ended: its attempts are used up, or it was lost and may run at most once.
    Failed,
    /// Ended: failed with an error marked as not worth retrying.
    Aborted,
    /// Ended: killed, over its cap or its resources.
    Killed,
    /// Ended: cancelled by its owner.
    Cancelled,
    /// Ended: its start deadline passed and it asked for that.
    Expired,
    /// Ended: a parent did not end as its edge asked.
    Skipped,
}

impl State {
    /// Every state, in the order of a life.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// True for the states that nothing leaves.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Scheduled
            | Self::Ready
            | Self::Queued
            | Self::Running
            | Self::Cancelling
            | Self::Retrying => false,
            Self::Succeeded
            | Self::Failed
            | Self::Aborted
            | Self::Killed
            | Self::Cancelled
            | Self::Expired
            | Self::Skipped => true,
        }
    }

    /// True where a lease is held.
    #[must_use]
    pub const fn is_leased(self) -> bool {
        matches!(self, Self::Running | Self::Cancelling)
    }

    /// Its name in JSON, SQL, logs and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A text is no state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a state; expected one of scheduled, ready, queued, running, cancelling, retrying, succeeded, failed, aborted, killed, cancelled, expired, skipped"
)]
pub struct ParseStateError(pub String);

impl FromStr for State {
    type Err = ParseStateError;

    fn from_str(text: &str) -> Result<Self, ParseStateError> {
        let found = Self::ALL.iter().copied().find(|state| state.as_str() == text);
        found.ok_or_else(|| ParseStateError(text.chars().take(64).collect()))
    }
}

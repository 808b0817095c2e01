//! Misfire policies.

use crate::schedule::Timing;
use crate::time::text;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Misfire policy: treatment of due times that were not fired in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Misfire {
    /// Each of them fires now.
    FireNow,
    /// They become one that fires now.
    FireNextSoon,
    /// None of them fires.
    Skip,
    /// The newest of them fire.
    CatchUp {
        /// Number, 1 to [`Misfire::MOST_CAUGHT_UP`].
        count: u32,
        /// Largest age.
        #[serde(with = "text")]
        max_age: Duration,
        /// Tasks per second; `None`: all at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_second: Option<u32>,
    },
}

impl Misfire {
    /// Maximum of a catch-up.
    pub const MOST_CAUGHT_UP: u32 = 1000;

    /// The default for a timing.
    #[must_use]
    pub fn usual(timing: &Timing) -> Self {
        if timing.is_one_shot() { Self::FireNow } else { Self::FireNextSoon }
    }

    /// Whether its numbers can be.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        match self {
            Self::FireNow | Self::FireNextSoon | Self::Skip => true,
            Self::CatchUp { count, per_second, .. } => {
                (1..=Self::MOST_CAUGHT_UP).contains(count) && *per_second != Some(0)
            }
        }
    }
}

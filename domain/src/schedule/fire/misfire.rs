//! What becomes of due times that nobody fired in time.

use crate::schedule::Timing;
use crate::time::text;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What becomes of overdue times: those that passed longer ago than a due time may take to be fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Misfire {
    /// Each of them fires now.
    FireNow,
    /// They become one, which fires now.
    FireNextSoon,
    /// None of them fires.
    Skip,
    /// The newest of them fire.
    CatchUp {
        /// So many, 1 to [`Misfire::MOST_CAUGHT_UP`].
        count: u32,
        /// None that was due longer ago than this.
        #[serde(with = "text")]
        max_age: Duration,
        /// Tasks a second, at most; without it, all at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_second: Option<u32>,
    },
}

impl Misfire {
    /// The most that are caught up.
    pub const MOST_CAUGHT_UP: u32 = 1000;

    /// What holds where its owner says nothing.
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

//! One due time, and what is special about it.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A time at which a schedule is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueTime {
    /// When; without jitter.
    pub at: Timestamp,
    /// What the zone's clocks have to do with it.
    pub marks: Marks,
}

/// What the clocks of a zone have to do with a due time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Its clock time does not exist on this day: it stands for what fell into the gap.
    pub shifted: bool,
    /// Its clock time comes more than once on this day.
    pub repeated: bool,
    /// The clocks change on this day.
    pub change_day: bool,
}

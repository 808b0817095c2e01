//! What a decision is made from.

use super::timeline::{Coming, Source};
use super::{Made, Misfire, Overlap};
use crate::id::ScheduleId;
use crate::schedule::Reckoner;
use crate::time::Timestamp;
use std::time::Duration;

/// Maximum of rows in one decision; the rest is decided next time.
pub const MOST_ROWS: usize = 1000;

/// The state of a schedule at one time.
///
/// The state at a fire time decides that due time, so a situation ends at a change of its schedule or tenant; later due
/// times are another situation.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    /// The schedule.
    pub schedule: ScheduleId,
    /// Sources of its due times, in order and disjoint.
    pub sources: Vec<Source<'a>>,
    /// First due time without a row, in fire order.
    pub next: Coming,
    /// End of the situation; `None`: now.
    pub until: Option<Timestamp>,
    /// The reckoner of a fixed delay, if any.
    pub fixed_delay: Option<&'a Reckoner>,
    /// Number of tasks after which it is finished.
    pub max_fires: Option<u64>,
    /// Tasks created, counted against `max_fires`.
    pub fires: u64,
    /// Its owner has paused it.
    pub paused: bool,
    /// Its tenant is suspended.
    pub suspended: bool,
    /// Whether its tenant may use the pool of its task now; the earlier state is unknown.
    pub pool_granted: bool,
    /// Whether its workflow exists and can run with its input; true if it makes tasks.
    pub can_start: bool,
    /// Misfire policy.
    pub misfire: Misfire,
    /// Age from which a due time is a misfire.
    pub misfire_after: Duration,
    /// Overlap policy.
    pub overlap: Overlap,
    /// Whether its tasks may be serialized.
    pub can_queue: bool,
    /// Its unfinished tasks and runs, oldest first.
    pub live: &'a [Made],
    /// Number of serialized tasks among them.
    pub queued: usize,
    /// Free quota of its tenant, in fires: tasks, or runs.
    pub room: u64,
    /// Fires of one decision that make something; the rest is decided next time. Bounds how much one transaction writes.
    pub at_once: u64,
    /// The time of the database.
    pub now: Timestamp,
}

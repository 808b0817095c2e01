//! What a decision is made from.

use super::timeline::{Coming, Source};
use super::{Misfire, Overlap};
use crate::id::{ScheduleId, TaskId};
use crate::schedule::Reckoner;
use crate::time::Timestamp;
use std::time::Duration;

/// Rows of one decision, at most; what is left is decided the next time.
pub const MOST_ROWS: usize = 1000;

/// A schedule at the moment at which it is looked at.
///
/// What it was like at one instant decides about the due times that were to be fired then, so a situation ends where its schedule or
/// its tenant changed: what is behind is another situation.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    /// Which.
    pub schedule: ScheduleId,
    /// Where its due times come from, the first first; no two have one in common.
    pub sources: Vec<Source<'a>>,
    /// The first due time that has no row yet, in the order in which they are fired.
    pub next: Coming,
    /// What is to be fired after this is not decided about. `None`: it is so until now.
    pub until: Option<Timestamp>,
    /// Where its next due time counts from the end of its task, by what that is found.
    pub fixed_delay: Option<&'a Reckoner>,
    /// Tasks after which it is over.
    pub max_fires: Option<u64>,
    /// Tasks that it has made, counted against `max_fires`.
    pub fires: u64,
    /// Its owner has paused it.
    pub paused: bool,
    /// Its tenant is suspended.
    pub suspended: bool,
    /// Its tenant may use the pool of its task now; how that was before is not known.
    pub pool_granted: bool,
    /// What becomes of overdue times.
    pub misfire: Misfire,
    /// How long after it should have fired a due time is overdue.
    pub misfire_after: Duration,
    /// What it does while earlier tasks live.
    pub overlap: Overlap,
    /// Its tasks may be made to run one after the other.
    pub can_queue: bool,
    /// Its tasks that have not ended, oldest first.
    pub live: &'a [TaskId],
    /// So many of them run one after the other.
    pub queued: usize,
    /// Tasks for which its tenant has room.
    pub room: u64,
    /// The time of the database.
    pub now: Timestamp,
}

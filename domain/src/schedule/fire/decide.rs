//! Decides about every due time that has come.

use super::{Misfire, Outcome, Overlap};
use crate::id::{ScheduleId, TaskId};
use crate::schedule::Reckoner;
use crate::time::Timestamp;
use std::time::Duration;

/// Rows of one decision, at most; what is left is decided the next time.
pub const MOST_ROWS: usize = 1000;

/// A schedule at the moment at which it is looked at.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    /// Which.
    pub schedule: ScheduleId,
    /// Its due times.
    pub reckoner: &'a Reckoner,
    /// The first due time that has no row yet.
    pub due_at: Timestamp,
    /// Tasks that it has made, counted against `max_fires`.
    pub fires: u64,
    /// Its owner has paused it.
    pub paused: bool,
    /// Its tenant is suspended.
    pub suspended: bool,
    /// What becomes of overdue times.
    pub misfire: Misfire,
    /// How long after it should have fired a due time is overdue.
    pub misfire_after: Duration,
    /// What it does while earlier tasks live.
    pub overlap: Overlap,
    /// Its tasks that have not ended, oldest first.
    pub live: &'a [TaskId],
    /// Tasks for which its tenant has room.
    pub room: u64,
    /// The time of the database.
    pub now: Timestamp,
}

/// What is to be written in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// A row for each due time that has come, in order; strictly increasing.
    pub rows: Vec<FireRow>,
    /// Tasks to cancel before the new ones are made.
    pub cancel: Vec<TaskId>,
    /// When it is due next.
    pub next: Next,
    /// Tasks that it has made, the new ones included.
    pub fires: u64,
}

/// What becomes of one due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FireRow {
    /// The due time, without jitter.
    pub due_at: Timestamp,
    /// What becomes of it; [`Outcome::makes_task`] says whether a task is made.
    pub outcome: Outcome,
    /// How long the task waits, counted from now, so that what is caught up comes at a pace.
    pub delay: Duration,
}

/// When a schedule is due after a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At this time, which may have come already where there was more than one decision holds.
    At(Timestamp),
    /// So long after its task has ended; see [`Reckoner::after_end`].
    AfterEnd,
    /// Never again.
    Over,
}

/// Decides about every due time of `situation` that has come, [`MOST_ROWS`] at most.
#[must_use]
pub fn decide(situation: &Situation<'_>) -> Decision {
    Decision {
        rows: Vec::new(),
        cancel: Vec::new(),
        next: Next::At(situation.due_at),
        fires: situation.fires,
    }
}

//! Decides about every due time that has come.
//!
//! Called by whoever holds the schedule's row. It sees one schedule at one moment and says what to write; the same situation gives the
//! same decision. Each due time gets one row with one outcome, in order, and none is passed over.

use super::due::{Due, Overdue, due_times};
use super::situation::Situation;
use super::timeline::{Coming, first_coming};
use super::{Misfire, Outcome, Overlap};
use crate::id::TaskId;
use crate::time::Timestamp;
use std::time::Duration;

/// A task that is made longer after it should have been is late.
pub(super) const LATE: Duration = Duration::from_secs(1);

/// What is to be written in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// A row for each due time that has come, in the order in which they are fired.
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
    /// The task runs after all others of its schedule that were made so, by a concurrency key of the schedule's own.
    pub queued: bool,
}

/// When a schedule is due after a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At this time, which may have come already where there was more than one decision holds.
    At(Coming),
    /// So long after its task has ended; see [`Reckoner::after_end`].
    AfterEnd,
    /// Never again.
    Over,
}

/// Decides about every due time of `situation` that has come, [`MOST_ROWS`](super::MOST_ROWS) at most.
#[must_use]
pub fn decide(situation: &Situation<'_>) -> Decision {
    let (due, next) = due_times(situation);
    let mut ledger = Ledger::new(situation);
    for due in &due {
        if ledger.is_spent() {
            break;
        }
        ledger.settle(due);
    }
    let next = if ledger.is_spent() {
        // What came after it may have been allowed more.
        situation.until.and_then(|until| {
            first_coming(situation.schedule, &situation.sources, Coming::after(until))
        })
    } else {
        next
    };
    let next = match (next, situation.fixed_delay) {
        (Some(next), _) => Next::At(next),
        // The delay counts from the end of its task; where none was made, from now.
        (None, Some(_)) if ledger.made > 0 && !ledger.is_spent() => Next::AfterEnd,
        (None, Some(reckoner)) if !ledger.is_spent() => {
            let due = reckoner.after_end(situation.now);
            due.map_or(Next::Over, |due| Next::At(Coming::of(situation.schedule, reckoner, due.at)))
        }
        (None, _) => Next::Over,
    };
    let fires = situation.fires + ledger.made;
    Decision { rows: ledger.rows, cancel: ledger.cancel, next, fires }
}

/// What has been decided so far.
struct Ledger<'a> {
    situation: &'a Situation<'a>,
    rows: Vec<FireRow>,
    cancel: Vec<TaskId>,
    /// Tasks made by `rows`.
    made: u64,
    /// The newest of them.
    newest: Option<usize>,
    /// Those of them that are made up for.
    made_up: u32,
}

impl<'a> Ledger<'a> {
    fn new(situation: &'a Situation<'a>) -> Self {
        let (rows, cancel) = (Vec::new(), Vec::new());
        Self { situation, rows, cancel, made: 0, newest: None, made_up: 0 }
    }

    /// Whether it has made all the tasks that it may make.
    fn is_spent(&self) -> bool {
        let most = self.situation.max_fires.unwrap_or(u64::MAX);
        self.situation.fires.saturating_add(self.made) >= most
    }

    fn settle(&mut self, due: &Due) {
        let outcome = if self.situation.suspended {
            Outcome::Suspended
        } else if self.situation.paused {
            Outcome::Paused
        } else {
            match due.overdue {
                Overdue::Collapses => Outcome::CollapsedMisfire,
                Overdue::Skipped => Outcome::SkippedMisfire,
                Overdue::No | Overdue::Fires | Overdue::MadeUp => self.fire(due),
            }
        };
        let made_up = due.overdue == Overdue::MadeUp && outcome.makes_task();
        let queued = made_up && self.queues();
        let delay = if made_up { self.pace() } else { Duration::ZERO };
        self.rows.push(FireRow { due_at: due.at, outcome, delay, queued });
    }

    /// Whether what is made up for runs one after the other, so that none of it stands in the way of the rest.
    fn queues(&self) -> bool {
        let one_at_a_time = matches!(self.situation.overlap, Overlap::Skip | Overlap::BufferOne);
        one_at_a_time && self.situation.can_queue
    }

    /// What becomes of a due time that is to fire: the tasks before it and its tenant's room decide.
    fn fire(&mut self, due: &Due) -> Outcome {
        if !self.situation.pool_granted {
            return Outcome::PoolUnavailable;
        }
        let all = self.situation.live.len() as u64 + self.made;
        let before = if due.overdue == Overdue::MadeUp && self.queues() {
            all - self.situation.queued.min(self.situation.live.len()) as u64
                - u64::from(self.made_up)
        } else {
            all
        };
        match self.situation.overlap {
            Overlap::Skip if before > 0 => return Outcome::SkippedOverlap,
            Overlap::BufferOne if before > 1 => return Outcome::SkippedOverlap,
            Overlap::CancelOther => self.take_back_newest(),
            Overlap::Skip | Overlap::BufferOne | Overlap::BufferAll | Overlap::Allow => {}
        }
        if self.made >= self.situation.room {
            return Outcome::ShedQuota;
        }
        if self.situation.overlap == Overlap::CancelOther && self.cancel.is_empty() {
            self.cancel.extend_from_slice(self.situation.live);
        }
        self.made += 1;
        self.newest = Some(self.rows.len());
        let on_time = due.age <= LATE;
        if on_time { Outcome::Fired } else { Outcome::Late }
    }

    /// A task that the next due time would cancel in the same moment is not made at all.
    fn take_back_newest(&mut self) {
        if let Some(row) = self.newest.take().and_then(|newest| self.rows.get_mut(newest)) {
            (row.outcome, row.delay) = (Outcome::SkippedOverlap, Duration::ZERO);
            self.made -= 1;
            self.made_up = self.made_up.saturating_sub(1);
        }
    }

    /// How long the next task waits that is made up for.
    fn pace(&mut self) -> Duration {
        let before = self.made_up;
        self.made_up += 1;
        match self.situation.misfire {
            Misfire::CatchUp { per_second: Some(rate), .. } => {
                Duration::from_secs(before.into()) / rate.max(1)
            }
            _ => Duration::ZERO,
        }
    }
}

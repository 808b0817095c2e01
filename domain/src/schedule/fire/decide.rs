//! Decides the outcome of each due time.
//!
//! Called under the lock of the schedule's row. Pure: the same situation gives the same decision. Each due time gets
//! one row with one outcome, in order, and none is skipped.

use super::due::{Due, Overdue, due_times};
use super::situation::Situation;
use super::timeline::{Coming, first_coming};
use super::{Made, Misfire, Outcome, Overlap};
use crate::time::Timestamp;
use std::time::Duration;

/// Lateness from which a task counts as late.
pub(super) const LATE: Duration = Duration::from_secs(1);

/// What is to be written in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// A row for each due time, in fire order.
    pub rows: Vec<FireRow>,
    /// Tasks and runs to cancel before new ones are created.
    pub cancel: Vec<Made>,
    /// Next due time.
    pub next: Next,
    /// Tasks created, with the new ones.
    pub fires: u64,
}

/// Outcome of one due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FireRow {
    /// The due time, without jitter.
    pub due_at: Timestamp,
    /// Its outcome; [`Outcome::makes_task`]: whether it creates a task.
    pub outcome: Outcome,
    /// Delay of the task from now, to pace a catch-up.
    pub delay: Duration,
    /// Whether the task is serialized, by a concurrency key of the schedule.
    pub queued: bool,
}

/// When a schedule is due after a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At this time, which may be in the past after a full decision.
    At(Coming),
    /// After the end of its task; see [`Reckoner::after_end`](crate::schedule::Reckoner::after_end).
    AfterEnd,
    /// Never again.
    Over,
}

/// Decides each past due time of `situation`, at most [`MOST_ROWS`](super::MOST_ROWS).
#[must_use]
pub fn decide(situation: &Situation<'_>) -> Decision {
    let (due, mut next) = due_times(situation);
    let mut ledger = Ledger::new(situation);
    for due in &due {
        if ledger.is_spent() {
            break;
        }
        if ledger.is_full() {
            next = Some(due.coming);
            break;
        }
        ledger.settle(due);
    }
    let next = if ledger.is_spent() {
        // A later due time may have been allowed more.
        situation.until.and_then(|until| {
            first_coming(situation.schedule, &situation.sources, Coming::after(until))
        })
    } else {
        next
    };
    let next = match (next, situation.fixed_delay) {
        (Some(next), _) => Next::At(next),
        // The delay counts from the end of its task; without a task, from now.
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

/// Decisions so far.
struct Ledger<'a> {
    situation: &'a Situation<'a>,
    rows: Vec<FireRow>,
    cancel: Vec<Made>,
    /// Tasks created by `rows`.
    made: u64,
    /// The newest of them.
    newest: Option<usize>,
    /// Tasks of a catch-up.
    made_up: u32,
}

impl<'a> Ledger<'a> {
    fn new(situation: &'a Situation<'a>) -> Self {
        let (rows, cancel) = (Vec::new(), Vec::new());
        Self { situation, rows, cancel, made: 0, newest: None, made_up: 0 }
    }

    /// Whether `max_fires` is reached.
    fn is_spent(&self) -> bool {
        let most = self.situation.max_fires.unwrap_or(u64::MAX);
        self.situation.fires.saturating_add(self.made) >= most
    }

    /// Whether the next due time is left to the next decision. Only in parallel more than one is made, or kept.
    fn is_full(&self) -> bool {
        self.situation.overlap == Overlap::Allow && self.made >= self.situation.at_once
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
        self.rows.push(FireRow { due_at: due.coming.due_at, outcome, delay, queued });
    }

    /// Whether a catch-up is serialized, so that its tasks do not block each other.
    fn queues(&self) -> bool {
        let one_at_a_time = matches!(self.situation.overlap, Overlap::Skip | Overlap::BufferOne);
        one_at_a_time && self.situation.can_queue
    }

    /// Outcome of a due time that fires, by earlier tasks and the quota of its tenant.
    fn fire(&mut self, due: &Due) -> Outcome {
        if !self.situation.can_start {
            return Outcome::WorkflowUnavailable;
        }
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

    /// Skips a task that the next due time would cancel at once.
    fn take_back_newest(&mut self) {
        if let Some(row) = self.newest.take().and_then(|newest| self.rows.get_mut(newest)) {
            (row.outcome, row.delay) = (Outcome::SkippedOverlap, Duration::ZERO);
            self.made -= 1;
            self.made_up = self.made_up.saturating_sub(1);
        }
    }

    /// Delay of the next task of a catch-up.
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

//! Says what becomes of due times: the rules are `domain::schedule::decide`'s, over what the database holds locked.

use super::known::{Known, Parsed};
use super::rooms::Rooms;
use domain::id::{ScheduleId, TaskId};
use domain::schedule::{Decision, Next, Situation, Timing, decide, jitter};
use domain::tenant::TenantState;
use domain::time::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::fire::{Due, Facts, Verdict, VerdictRow};

/// When a due time is to be fired, behind it.
pub(super) type NextDue = Option<(Timestamp, Timestamp)>;

pub(crate) struct Judge {
    known: Known,
    rooms: Rooms,
    misfire_after: Duration,
    unreadable: Mutex<Vec<Unreadable>>,
}

/// A version of a schedule that cannot be read, and what of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub schedule: ScheduleId,
    pub version: i64,
    pub what: &'static str,
}

impl Judge {
    pub(crate) fn new(misfire_after: Duration) -> Self {
        let (known, rooms) = (Known::default(), Rooms::default());
        Self { known, rooms, misfire_after, unreadable: Mutex::default() }
    }

    /// Those that could not be read since this was asked last: they are to be paused.
    pub(super) fn unreadable(&self) -> Vec<Unreadable> {
        std::mem::take(&mut *self.unreadable.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Learns what must be known of the tenants of `due`.
    pub(super) async fn prepare(&self, db: &SchedulerDb, due: &[Due]) -> Result<(), StoreError> {
        self.rooms.look(db, due).await
    }

    /// Of `tenant`, how many tasks more it may have.
    pub(super) fn room(&self, tenant: domain::id::TenantId) -> u64 {
        self.rooms.of(tenant)
    }

    /// What becomes of each of `all`. One that cannot be read is left as it is, harms no other, and is
    /// among [`Self::unreadable`] then.
    pub(super) fn verdicts(&self, all: &[Facts]) -> Vec<Verdict> {
        all.iter()
            .filter_map(|facts| match self.known.parsed(facts) {
                Ok(parsed) => Some(self.verdict(facts, &parsed)),
                Err(error) => {
                    let what = if let StoreError::Malformed { what, .. } = error {
                        what
                    } else {
                        "schedule"
                    };
                    let (schedule, version) = (facts.due.schedule, facts.version);
                    let mut all = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push(Unreadable { schedule, version, what });
                    None
                }
            })
            .collect()
    }

    fn verdict(&self, facts: &Facts, parsed: &Parsed) -> Verdict {
        let decision = self.rooms.give(facts.due.tenant, |room| {
            let decision = decide(&Situation {
                schedule: facts.due.schedule,
                reckoner: &parsed.reckoner,
                due_at: facts.due.due_at,
                fires: facts.fires,
                paused: facts.paused,
                suspended: facts.tenant_state != TenantState::Active,
                misfire: parsed.misfire,
                misfire_after: self.misfire_after,
                overlap: facts.overlap,
                live: &facts.live,
                room,
                now: facts.now,
            });
            let made = decision.rows.iter().filter(|row| row.outcome.makes_task()).count();
            (decision, made as u64)
        });
        let rows: Vec<_> = decision
            .rows
            .iter()
            .map(|row| VerdictRow {
                due_at: row.due_at,
                outcome: row.outcome,
                task: row.outcome.makes_task().then(TaskId::fresh),
                delay: row.delay,
            })
            .collect();
        let (next, awaits) = next(facts, parsed, &decision, &rows);
        Verdict {
            schedule: facts.due.schedule,
            rows,
            template: Arc::clone(&parsed.template),
            cancel: decision.cancel,
            next,
            awaits,
            fires: decision.fires,
        }
    }
}

/// What comes after a decision: a due time, or the end of a task.
fn next(
    facts: &Facts,
    parsed: &Parsed,
    decision: &Decision,
    rows: &[VerdictRow],
) -> (NextDue, Option<TaskId>) {
    let id = facts.due.schedule;
    match decision.next {
        Next::At(due_at) => (Some(with_jitter(id, &parsed.timing, due_at)), None),
        Next::Over => (None, None),
        Next::AfterEnd => {
            let made = rows.iter().rev().find_map(|row| row.task);
            match made.or_else(|| facts.live.last().copied()) {
                Some(task) => (None, Some(task)),
                // It made none and has none: as if one had ended now.
                None => (after_end(id, parsed, facts.now), None),
            }
        }
    }
}

fn after_end(id: ScheduleId, parsed: &Parsed, ended: Timestamp) -> NextDue {
    Some(with_jitter(id, &parsed.timing, parsed.reckoner.after_end(ended)?.at))
}

/// A due time, and when it is to be fired.
pub(super) fn with_jitter(
    id: ScheduleId,
    timing: &Timing,
    due_at: Timestamp,
) -> (Timestamp, Timestamp) {
    (due_at, due_at + jitter(id, due_at, timing.jitter))
}

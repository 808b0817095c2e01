//! A schedule and its fires as readers see them.

use domain::id::{ScheduleId, TaskId, TenantId};
use domain::schedule::{Misfire, Outcome, Overlap, TaskTemplate, Timing};
use domain::time::Timestamp;

/// A schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleRecord {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its id.
    pub id: ScheduleId,
    /// What its owner calls it; unique among the tenant's schedules.
    pub name: String,
    /// Counts its changes, from 1.
    pub version: i64,
    /// What decides when.
    pub timing: Timing,
    /// What a fire makes.
    pub template: TaskTemplate,
    /// What is done while an earlier task of it lives.
    pub overlap: Overlap,
    /// What is done with due times that were not fired in time.
    pub misfire: Misfire,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The key or the sign-in by which it was made; its tasks come by the same.
    pub created_by: String,
    /// Since when, by whom and why it is paused.
    pub paused: Option<Pause>,
    /// The next due time; `None`: it is over.
    pub next_at: Option<Timestamp>,
    /// When that is to be fired: the due time and its share of the jitter.
    pub next_fire_at: Option<Timestamp>,
    /// Due times that made a task, those by hand not counted: what `max_fires` is compared with.
    pub fires: u64,
    /// Its latest tasks, the live ones at the last fire and those made since; some may have ended.
    pub recent: Vec<TaskId>,
    /// The release of the time zone data by which the next due time was found.
    pub tzdb: String,
    /// When it was found to have no due time any more.
    pub ended_at: Option<Timestamp>,
}

/// That a schedule is paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// Since when.
    pub at: Timestamp,
    /// Who paused it: a key, a user or an operator.
    pub by: String,
    /// Why.
    pub because: Option<String>,
}

/// Why a due time is in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FireKind {
    /// It came.
    Scheduled,
    /// Somebody asked for it now.
    Trigger,
    /// Somebody asked for those of a past range.
    Backfill,
}

impl FireKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Scheduled, Self::Trigger, Self::Backfill];

    /// Its name in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Trigger => "trigger",
            Self::Backfill => "backfill",
        }
    }
}

/// What became of one due time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FireRecord {
    /// The due time.
    pub due_at: Timestamp,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it is there.
    pub kind: FireKind,
    /// When it was decided.
    pub fired_at: Timestamp,
    /// The task it made.
    pub task: Option<TaskId>,
    /// The schedule's version then.
    pub version: i64,
    /// More on the outcome, for people.
    pub detail: Option<String>,
}

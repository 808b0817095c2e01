//! What is to be written of a schedule's due times.

use super::starts::FiredRuns;
use domain::id::ScheduleId;
use domain::schedule::{FireTemplate, Made, Outcome, Overlap};
use domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// What becomes of a schedule whose due time has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The schedule.
    pub schedule: ScheduleId,
    /// A row for each due time that has come, in order.
    pub rows: Vec<VerdictRow>,
    /// The version by which they were judged.
    pub version: i64,
    /// What that does while an earlier task lives.
    pub overlap: Overlap,
    /// What its tasks are made of; nothing where no row makes one.
    pub template: Option<Arc<FireTemplate>>,
    /// What its runs are made of; nothing where no row starts one.
    pub runs: Option<FiredRuns>,
    /// Tasks and runs of it that are asked to stop.
    pub cancel: Vec<Made>,
    /// Its next due time, and when that is to be fired; none: it waits for what it made to end, or is over.
    pub next: Option<(Timestamp, Timestamp)>,
    /// The task or the run after whose end its next due time counts.
    pub awaits: Option<Made>,
    /// Due times that made something, these included.
    pub fires: u64,
    /// Earlier versions by which nothing is to be judged any more.
    pub settled: Vec<i64>,
}

/// What becomes of one due time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictRow {
    /// The due time.
    pub due_at: Timestamp,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The task or the run it makes, where its outcome makes one.
    pub made: Option<Made>,
    /// More on the outcome, for people.
    pub detail: Option<String>,
    /// How long after it is stored that task is due.
    pub delay: Duration,
    /// It runs after all others of its schedule that do.
    pub queued: bool,
}

//! What becomes of the rows of schedules that were fired.

use super::record::Facts;
use super::verdict::Verdict;
use domain::id::{TaskId, WorkflowRunId};
use domain::schedule::Made;
use domain::time::Timestamp;
use uuid::Uuid;

/// The latest tasks that a schedule keeps of those it made, and the latest runs.
const MOST_RECENT: usize = 32;

/// Verdicts as the arrays the statement takes: what becomes of the schedules' own rows.
pub(super) struct Moves {
    pub ids: Vec<Uuid>,
    pub was: Vec<Timestamp>,
    pub due_at: Vec<Option<Timestamp>>,
    pub fire_at: Vec<Option<Timestamp>>,
    pub fires: Vec<i64>,
    pub awaits: Vec<Option<Uuid>>,
    pub recent: Vec<String>,
    pub recent_runs: Vec<String>,
    pub versions: Vec<i64>,
}

impl Moves {
    pub(super) fn of(group: &[(&Facts, &Verdict)]) -> Self {
        let next = |verdict: &Verdict| verdict.next;
        Self {
            ids: group.iter().map(|(facts, _)| facts.due.schedule.uuid()).collect(),
            was: group.iter().map(|(facts, _)| facts.due.due_at).collect(),
            due_at: group.iter().map(|(_, of)| next(of).map(|(due_at, _)| due_at)).collect(),
            fire_at: group.iter().map(|(_, of)| next(of).map(|(_, fire_at)| fire_at)).collect(),
            fires: group
                .iter()
                .map(|(_, of)| i64::try_from(of.fires).unwrap_or(i64::MAX))
                .collect(),
            awaits: group.iter().map(|(_, of)| of.awaits.map(Made::uuid)).collect(),
            recent: group
                .iter()
                .map(|(facts, of)| recent(facts, of, |made| made.task().map(TaskId::uuid)))
                .collect(),
            recent_runs: group
                .iter()
                .map(|(facts, of)| recent(facts, of, |made| made.run().map(WorkflowRunId::uuid)))
                .collect(),
            versions: group.iter().map(|(facts, _)| facts.version).collect(),
        }
    }
}

/// What a schedule has made last, of the kind that has an `id`, as the text of an array.
fn recent(facts: &Facts, verdict: &Verdict, id: fn(Made) -> Option<Uuid>) -> String {
    let made = verdict.rows.iter().filter_map(|row| row.made);
    let all = facts.live.iter().copied().chain(made).filter_map(id);
    let all: Vec<_> = all.map(|id| id.to_string()).collect();
    format!("{{{}}}", all[all.len().saturating_sub(MOST_RECENT)..].join(","))
}

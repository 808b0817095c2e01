//! A task as a row of a list.

use crate::words::{Ago, Mark, length, mark};
use api_types::Task;
use domain::time::Timestamp;

/// One row.
#[derive(Debug, Clone)]
pub(crate) struct TaskRow {
    pub id: String,
    pub name: String,
    /// The end of its id: its beginning is a time.
    pub short: String,
    pub state: Mark,
    pub tier: String,
    pub created: Ago,
    /// What its time says: waits until, runs for, took.
    pub time: String,
    pub labels: Vec<(String, String)>,
    pub reason: String,
}

impl TaskRow {
    pub(crate) fn of(task: &Task, now: Timestamp) -> Self {
        let id = task.id.to_string();
        let short = format!("…{}", id.get(id.len().saturating_sub(8)..).unwrap_or_default());
        Self {
            name: task.name.clone().unwrap_or_default(),
            state: mark(&task.state),
            tier: task.tier.as_ref().map_or_else(|| "custom".to_owned(), ToString::to_string),
            created: Ago { at: task.created_at, now },
            time: time(task, now),
            labels: task.labels.clone().into_iter().collect(),
            reason: task.reason.clone().unwrap_or_default(),
            short,
            id,
        }
    }
}

fn time(task: &Task, now: Timestamp) -> String {
    match (task.started_at, task.finished_at) {
        (Some(started), Some(finished)) => format!("took {}", length(finished - started)),
        (Some(started), None) if task.attempts <= 1 => format!("for {}", length(now - started)),
        (Some(_), None) => format!("attempt {}", task.attempts),
        (None, Some(_)) => "never started".to_owned(),
        (None, None) if task.run_at > now => format!("due in {}", length(task.run_at - now)),
        (None, None) => format!("waits {}", length(now - task.run_at)),
    }
}

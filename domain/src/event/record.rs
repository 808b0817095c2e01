//! Rows of the event log, as their readers see them.

use super::kind::type_of;
use crate::id::{ScheduleId, TaskId, WorkflowRunId};
use crate::task::State;
use crate::time::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A place in the order of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPlace {
    /// The transaction that wrote the event.
    pub txid: i64,
    /// Its running number.
    pub seq: i64,
}

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRecord {
    /// Where it is.
    pub place: EventPlace,
    /// When it was written.
    pub at: Timestamp,
    /// What, such as `task_changed`.
    pub kind: String,
    /// Of an event about a task.
    pub task: Option<TaskEvent>,
    /// Particulars of any other: a JSON object.
    pub detail_json: Option<String>,
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskEvent {
    /// Which.
    pub id: TaskId,
    /// The state that it is in from then on.
    pub state: State,
    /// Its latest attempt; 0 before the first.
    pub attempt: u32,
    /// Exit code of the attempt, at an end.
    pub exit_code: Option<i32>,
    /// Why.
    pub reason: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The schedule that made it.
    pub schedule: Option<ScheduleId>,
    /// The name of that schedule, while there is one.
    pub schedule_name: Option<String>,
    /// The workflow run that it is of.
    pub workflow_run: Option<WorkflowRunId>,
    /// The name of that workflow, where it has one.
    pub workflow: Option<String>,
    /// Its node there.
    pub node: Option<String>,
}

/// The content of an event, as its readers receive it.
#[derive(Debug, Clone, PartialEq)]
pub struct EventContent {
    /// Its type, such as `berth.task.failed`.
    pub event_type: String,
    /// Id of the task or schedule, or the name of the quota or spend cap that it is about.
    pub subject: String,
    /// What happened: a JSON object.
    pub data: Value,
}

impl EventRecord {
    /// Its id, the same for every reader.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}-{}", self.place.txid, self.place.seq)
    }

    /// Its content.
    #[must_use]
    pub fn content(&self) -> EventContent {
        let state = self.task.as_ref().map(|task| task.state);
        let event_type = type_of(&self.kind, state).into_owned();
        if let Some(task) = &self.task {
            return EventContent { event_type, subject: task.id.to_string(), data: task.data() };
        }
        let data = self.detail_json.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let data: Value = data.filter(Value::is_object).unwrap_or_else(|| json!({}));
        let subject = ["schedule_id", "webhook", "cap", "quota"];
        let subject = subject.into_iter().find_map(|field| data[field].as_str());
        let subject = subject.unwrap_or(&self.kind).to_owned();
        EventContent { event_type, subject, data }
    }
}

impl TaskEvent {
    fn data(&self) -> Value {
        json!({
            "task": self.id.to_string(),
            "state": self.state.as_str(),
            "attempt": self.attempt,
            "exit_code": self.exit_code,
            "reason": self.reason,
            "name": self.name,
            "labels": self.labels,
            "schedule": self.schedule.map(|id| id.to_string()),
            "schedule_name": self.schedule_name,
            "workflow_run": self.workflow_run.map(|id| id.to_string()),
            "workflow": self.workflow,
            "node": self.node,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_about_what_it_names() {
        let content = |kind: &str, detail: &str| {
            let record = EventRecord {
                place: EventPlace { txid: 700, seq: 9 },
                at: crate::time::parse_time("2030-01-31T12:00:00Z").unwrap(),
                kind: kind.to_owned(),
                task: None,
                detail_json: Some(detail.to_owned()),
            };
            assert_eq!(record.id(), "700-9");
            record.content()
        };
        let quota = content("quota_nearly_used", r#"{"quota":"backlog","used":9}"#);
        assert_eq!(
            (quota.subject.as_str(), quota.event_type.as_str()),
            ("backlog", "berth.quota.nearly_used")
        );
        let missed = content("fire_missed", r#"{"schedule_id":"schedule_1","schedule":"nightly"}"#);
        assert_eq!(missed.subject, "schedule_1");
        let unknown = content("moon_rose", "[]");
        assert_eq!((unknown.subject.as_str(), unknown.data), ("moon_rose", json!({})));
    }
}

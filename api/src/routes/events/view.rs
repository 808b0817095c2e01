//! An event as it is shown.

use crate::problem::{Code, Problem};
use api_types::Event;
use domain::access::PermissionSet;
use domain::event::{About, EventFilter, permission_of, type_of};
use domain::id::ScheduleId;
use serde_json::{Value, json};
use store::event::{EventRecord, TaskEvent};

/// A record as a CloudEvent of `source`, and what filters ask of it.
pub(super) struct Shown {
    pub(super) event: Event,
    name: Option<String>,
    about: About<'static>,
}

impl Shown {
    pub(super) fn of(record: EventRecord, source: &str) -> Self {
        let EventRecord { place, at, kind, task, detail_json } = record;
        let event_type = type_of(&kind, task.as_ref().map(|task| task.state)).into_owned();
        let mut about = About::default();
        let mut name = None;
        let (subject, data) = match task {
            Some(task) => {
                about.task = Some(task.id);
                (about.schedule, about.workflow_run) = (task.schedule, task.workflow_run);
                name.clone_from(&task.name);
                (task.id.to_string(), of_task(&task))
            }
            None => {
                let data = detail_json.as_deref().and_then(|text| serde_json::from_str(text).ok());
                let data: Value = data.unwrap_or_else(|| json!({}));
                let text = |field: &str| data[field].as_str();
                about.schedule = text("schedule_id").and_then(|id| id.parse::<ScheduleId>().ok());
                let subject = ["schedule_id", "cap", "quota"].into_iter().find_map(text);
                (subject.unwrap_or(&kind).to_owned(), data)
            }
        };
        let event = Event {
            specversion: "1.0".to_owned(),
            id: format!("{}-{}", place.txid, place.seq),
            source: source.to_owned(),
            event_type,
            subject,
            time: at,
            datacontenttype: "application/json".to_owned(),
            sequence: format!("{:020}", place.seq),
            data,
        };
        Self { event, name, about }
    }

    /// What filters ask of it.
    pub(super) fn about(&self) -> About<'_> {
        About { event_type: &self.event.event_type, name: self.name.as_deref(), ..self.about }
    }
}

fn of_task(task: &TaskEvent) -> Value {
    json!({
        "task": task.id.to_string(),
        "state": task.state.as_str(),
        "attempt": task.attempt,
        "exit_code": task.exit_code,
        "reason": task.reason,
        "name": task.name,
        "labels": task.labels,
        "schedule": task.schedule.map(|id| id.to_string()),
        "workflow_run": task.workflow_run.map(|id| id.to_string()),
        "node": task.node,
    })
}

/// Whether the caller asks for it, and may see it.
pub(super) fn is_for(may: PermissionSet, filter: &EventFilter, shown: &Shown) -> bool {
    filter.fits(&shown.about()) && may.contains(permission_of(&shown.event.event_type))
}

/// An event as JSON.
///
/// # Errors
/// `internal`, which would be a bug.
pub(super) fn line(shown: &Shown) -> Result<String, Problem> {
    serde_json::to_string(&shown.event)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::event::EventPlace;

    #[test]
    fn a_warning_is_about_what_it_names() {
        let record = |kind: &str, detail: &str| EventRecord {
            place: EventPlace { txid: 700, seq: 9 },
            at: domain::time::parse_time("2030-01-31T12:00:00Z").unwrap(),
            kind: kind.to_owned(),
            task: None,
            detail_json: Some(detail.to_owned()),
        };
        let quota = Shown::of(
            record("quota_nearly_used", r#"{"quota":"backlog","used":9}"#),
            "urn:berth:test",
        );
        assert_eq!((quota.event.subject.as_str(), quota.event.id.as_str()), ("backlog", "700-9"));
        assert_eq!(quota.about().event_type, "berth.quota.nearly_used");
        let id = "schedule_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
        let missed = Shown::of(record("fire_missed", &json!({"schedule_id": id}).to_string()), "");
        assert_eq!(missed.about().schedule, id.parse().ok());
        let unknown = Shown::of(record("moon_rose", "[]"), "");
        assert_eq!(unknown.event.subject, "moon_rose");
    }
}

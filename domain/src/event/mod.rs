//! Events as customers see them: their types, and which of them are asked for.
//!
//! The log keeps what changed in words of its own; here these become types of CloudEvents 1.0.

mod kind;
mod record;

pub use kind::{PREFIX, type_of};
pub use record::{EventContent, EventPlace, EventRecord, TaskEvent};

use crate::access::Permission;
use crate::id::{ScheduleId, TaskId, WorkflowRunId};
use std::collections::BTreeMap;

/// Longest pattern of types, bytes.
const LONGEST: usize = 100;

/// What a caller must be allowed to read, to see events of this type.
#[must_use]
pub fn permission_of(event_type: &str) -> Permission {
    let of_money = ["berth.quota.", "berth.spend_cap."];
    if of_money.iter().any(|prefix| event_type.starts_with(prefix)) {
        return Permission::ReadUsage;
    }
    Permission::ReadTasks
}

/// Types of events: one, or with `*` at its end all that begin so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypePattern(String);

/// A text is no pattern of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a type such as berth.task.failed, or the beginning of types such as berth.task.*"
)]
pub struct ParseTypePatternError;

impl std::str::FromStr for TypePattern {
    type Err = ParseTypePatternError;

    fn from_str(text: &str) -> Result<Self, ParseTypePatternError> {
        let fixed = text.strip_suffix('*').unwrap_or(text);
        let letter = |b: u8| b.is_ascii_lowercase() || matches!(b, b'.' | b'_');
        let fits = fixed.starts_with(PREFIX) && text.len() <= LONGEST && fixed.bytes().all(letter);
        if fits { Ok(Self(text.to_owned())) } else { Err(ParseTypePatternError) }
    }
}

impl TypePattern {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it means types of tasks.
    #[must_use]
    pub fn is_of_tasks(&self) -> bool {
        const TASKS: &str = "berth.task.";
        self.0.starts_with(TASKS)
            || self.0.strip_suffix('*').is_some_and(|fixed| TASKS.starts_with(fixed))
    }

    /// Whether it means this type.
    #[must_use]
    pub fn fits(&self, event_type: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(beginning) => event_type.starts_with(beginning),
            None => self.0 == event_type,
        }
    }
}

/// Which events. What is left out means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Of one of these types.
    pub types: Vec<TypePattern>,
    /// Of tasks of exactly this name.
    pub name: Option<String>,
    /// Of this task.
    pub task: Option<TaskId>,
    /// Of this schedule, or of tasks that it made.
    pub schedule: Option<ScheduleId>,
    /// Of tasks of this workflow run.
    pub workflow_run: Option<WorkflowRunId>,
    /// Of tasks that have all these labels.
    pub labels: BTreeMap<String, String>,
    /// Of the schedule that has this name, or of tasks that it made.
    pub schedule_name: Option<String>,
    /// Of tasks of runs of the workflow of this name.
    pub workflow: Option<String>,
}

/// What an event is about, as far as filters ask.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    event_type: &'a str,
    task: Option<&'a TaskEvent>,
    schedule: Option<ScheduleId>,
    schedule_name: Option<&'a str>,
}

impl<'a> About<'a> {
    /// Of an event with this content.
    #[must_use]
    pub fn of(record: &'a EventRecord, content: &'a EventContent) -> Self {
        let text = |field: &str| content.data[field].as_str();
        let (schedule, schedule_name) = match &record.task {
            Some(task) => (task.schedule, task.schedule_name.as_deref()),
            None => (text("schedule_id").and_then(|id| id.parse().ok()), text("schedule")),
        };
        let event_type = &content.event_type;
        Self { event_type, task: record.task.as_ref(), schedule, schedule_name }
    }
}

impl EventFilter {
    /// Whether an event is asked for.
    #[must_use]
    pub fn fits(&self, about: &About<'_>) -> bool {
        let Self { types, name, task, schedule, workflow_run, labels, schedule_name, workflow } =
            self;
        let of = about.task;
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == found
        };
        (types.is_empty() || types.iter().any(|pattern| pattern.fits(about.event_type)))
            && is(name, of.and_then(|of| of.name.as_deref()))
            && (task.is_none() || *task == of.map(|of| of.id))
            && (schedule.is_none() || *schedule == about.schedule)
            && is(schedule_name, about.schedule_name)
            && (workflow_run.is_none() || *workflow_run == of.and_then(|of| of.workflow_run))
            && is(workflow, of.and_then(|of| of.workflow.as_deref()))
            && labels
                .iter()
                .all(|(key, value)| of.is_some_and(|of| of.labels.get(key) == Some(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::State;

    fn pattern(text: &str) -> TypePattern {
        text.parse().unwrap()
    }

    #[test]
    fn each_state_has_a_type_of_its_own_and_unknown_kinds_keep_their_names() {
        let types: std::collections::BTreeSet<_> =
            State::ALL.iter().map(|state| type_of("task_changed", Some(*state))).collect();
        assert_eq!(types.len(), State::ALL.len());
        assert!(types.iter().all(|found| pattern("berth.task.*").fits(found)));
        assert_eq!(type_of("fire_missed", None), "berth.schedule.missed");
        assert_eq!(type_of("moon_rose", None), "berth.moon_rose");
    }

    #[test]
    fn a_pattern_is_a_type_or_the_beginning_of_types() {
        assert!(pattern("berth.task.failed").fits("berth.task.failed"));
        assert!(!pattern("berth.task.failed").fits("berth.task.failed_twice"));
        assert!(pattern("berth.*").fits("berth.quota.nearly_used"));
        for wrong in ["", "*", "task.failed", "berth.Task", "berth.*.failed", "berth.task.**"] {
            assert_eq!(wrong.parse::<TypePattern>(), Err(ParseTypePatternError), "{wrong}");
        }
        assert!(format!("berth.{}", "x".repeat(100)).parse::<TypePattern>().is_err());
    }

    fn event() -> EventRecord {
        EventRecord {
            place: EventPlace { txid: 1, seq: 2 },
            at: crate::time::parse_time("2030-01-31T12:00:00Z").unwrap(),
            kind: "task_changed".into(),
            task: Some(TaskEvent {
                id: TaskId::fresh(),
                state: State::Failed,
                attempt: 1,
                exit_code: Some(2),
                reason: None,
                name: Some("nightly".into()),
                labels: [("team".to_owned(), "data".to_owned())].into(),
                schedule: Some(ScheduleId(uuid::Uuid::from_u128(7))),
                schedule_name: Some("every-night".into()),
                workflow_run: None,
                workflow: Some("etl".into()),
                node: None,
            }),
            detail_json: None,
        }
    }

    #[test]
    fn a_filter_asks_for_all_that_it_names() {
        let record = event();
        let content = record.content();
        let about = About::of(&record, &content);
        assert!(EventFilter::default().fits(&about));
        let types = vec![pattern("berth.quota.*"), pattern("berth.task.failed")];
        let task = record.task.as_ref().unwrap();
        let all = EventFilter {
            types,
            name: Some("nightly".into()),
            task: Some(task.id),
            schedule: task.schedule,
            workflow_run: None,
            labels: task.labels.clone(),
            schedule_name: Some("every-night".into()),
            workflow: Some("etl".into()),
        };
        assert!(all.fits(&about));
        for other in [
            EventFilter { types: vec![pattern("berth.quota.*")], ..all.clone() },
            EventFilter { name: Some("other".into()), ..all.clone() },
            EventFilter { task: Some(TaskId::fresh()), ..all.clone() },
            EventFilter { schedule: Some(ScheduleId(uuid::Uuid::from_u128(8))), ..all.clone() },
            EventFilter { workflow_run: Some(WorkflowRunId(uuid::Uuid::nil())), ..all.clone() },
            EventFilter { labels: [("team".into(), "ml".into())].into(), ..all.clone() },
            EventFilter { labels: [("other".into(), "data".into())].into(), ..all.clone() },
            EventFilter { schedule_name: Some("hourly".into()), ..all.clone() },
            EventFilter { workflow: Some("elt".into()), ..all.clone() },
        ] {
            assert!(!other.fits(&about), "{other:?}");
        }
    }

    #[test]
    fn an_event_without_a_task_is_of_its_schedule_and_of_no_label() {
        let id = ScheduleId(uuid::Uuid::from_u128(7));
        let detail = serde_json::json!({"schedule_id": id.to_string(), "schedule": "nightly"});
        let (kind, detail_json) = ("fire_missed".to_owned(), Some(detail.to_string()));
        let record = EventRecord { kind, task: None, detail_json, ..event() };
        let content = record.content();
        let fits = |filter: EventFilter| filter.fits(&About::of(&record, &content));
        assert!(fits(EventFilter { schedule: Some(id), ..EventFilter::default() }));
        assert!(fits(EventFilter {
            schedule_name: Some("nightly".into()),
            ..EventFilter::default()
        }));
        let labels = [("team".to_owned(), "data".to_owned())].into();
        assert!(!fits(EventFilter { labels, ..EventFilter::default() }));
        assert!(!fits(EventFilter { name: Some("nightly".into()), ..EventFilter::default() }));
    }

    #[test]
    fn who_asks_for_tasks_is_known_by_the_pattern() {
        for (text, is) in [
            ("berth.task.failed", true),
            ("berth.task.*", true),
            ("berth.*", true),
            ("berth.ta*", true),
            ("berth.schedule.*", false),
            ("berth.quota.nearly_used", false),
        ] {
            assert_eq!(pattern(text).is_of_tasks(), is, "{text}");
        }
    }

    #[test]
    fn money_and_quotas_are_seen_by_those_who_read_usage() {
        assert_eq!(permission_of("berth.spend_cap.used"), Permission::ReadUsage);
        assert_eq!(permission_of("berth.schedule.missed"), Permission::ReadTasks);
    }
}

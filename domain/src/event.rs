//! Events as customers see them: their types, and which of them are asked for.
//!
//! The log keeps what changed in words of its own; here these become types of CloudEvents 1.0.

use crate::access::Permission;
use crate::id::{ScheduleId, TaskId, WorkflowRunId};
use crate::task::State;
use std::borrow::Cow;

/// What all types begin with.
pub const PREFIX: &str = "berth.";
/// Longest pattern of types, bytes.
const LONGEST: usize = 100;

/// The type of an event that the log keeps as `kind`, of a task with the state that it is in from then on.
#[must_use]
pub fn type_of(kind: &str, state: Option<State>) -> Cow<'static, str> {
    match (kind, state) {
        ("task_changed", Some(state)) => match state {
            State::Scheduled => "berth.task.scheduled",
            State::Ready => "berth.task.ready",
            State::Queued => "berth.task.queued",
            State::Running => "berth.task.started",
            State::Cancelling => "berth.task.cancelling",
            State::Retrying => "berth.task.retrying",
            State::Succeeded => "berth.task.succeeded",
            State::Failed => "berth.task.failed",
            State::Aborted => "berth.task.aborted",
            State::Killed => "berth.task.killed",
            State::Cancelled => "berth.task.cancelled",
            State::Expired => "berth.task.expired",
            State::Skipped => "berth.task.skipped",
        }
        .into(),
        ("quota_nearly_used", _) => "berth.quota.nearly_used".into(),
        ("spend_cap_used", _) => "berth.spend_cap.used".into(),
        ("fire_missed", _) => "berth.schedule.missed".into(),
        ("schedule_paused", _) => "berth.schedule.paused".into(),
        // Of a later version.
        (kind, _) => format!("{PREFIX}{kind}").into(),
    }
}

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
}

/// What an event is about, as far as filters ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// Its type.
    pub event_type: &'a str,
    /// The name of its task.
    pub name: Option<&'a str>,
    /// Its task.
    pub task: Option<TaskId>,
    /// Its schedule, or that of its task.
    pub schedule: Option<ScheduleId>,
    /// The workflow run of its task.
    pub workflow_run: Option<WorkflowRunId>,
}

impl EventFilter {
    /// Whether an event is asked for.
    #[must_use]
    pub fn fits(&self, about: &About<'_>) -> bool {
        let Self { types, name, task, schedule, workflow_run } = self;
        (types.is_empty() || types.iter().any(|pattern| pattern.fits(about.event_type)))
            && (name.is_none() || name.as_deref() == about.name)
            && (task.is_none() || *task == about.task)
            && (schedule.is_none() || *schedule == about.schedule)
            && (workflow_run.is_none() || *workflow_run == about.workflow_run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_filter_asks_for_all_that_it_names() {
        let (task, schedule) = (TaskId::fresh(), ScheduleId(uuid::Uuid::from_u128(7)));
        let about = About {
            event_type: "berth.task.failed",
            name: Some("nightly"),
            task: Some(task),
            schedule: Some(schedule),
            workflow_run: None,
        };
        assert!(EventFilter::default().fits(&about));
        let types = vec![pattern("berth.quota.*"), pattern("berth.task.failed")];
        let all = EventFilter {
            types,
            name: Some("nightly".into()),
            task: Some(task),
            schedule: Some(schedule),
            workflow_run: None,
        };
        assert!(all.fits(&about));
        for other in [
            EventFilter { types: vec![pattern("berth.quota.*")], ..all.clone() },
            EventFilter { name: Some("other".into()), ..all.clone() },
            EventFilter { task: Some(TaskId::fresh()), ..all.clone() },
            EventFilter { schedule: Some(ScheduleId(uuid::Uuid::from_u128(8))), ..all.clone() },
            EventFilter { workflow_run: Some(WorkflowRunId(uuid::Uuid::nil())), ..all.clone() },
        ] {
            assert!(!other.fits(&about), "{other:?}");
        }
        assert!(!all.fits(&About { name: None, ..about }));
    }

    #[test]
    fn money_and_quotas_are_seen_by_those_who_read_usage() {
        assert_eq!(permission_of("berth.spend_cap.used"), Permission::ReadUsage);
        assert_eq!(permission_of("berth.schedule.missed"), Permission::ReadTasks);
    }
}

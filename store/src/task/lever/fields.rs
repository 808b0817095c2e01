//! What changes of a task before it runs: the fields that differ between what it is and what it is to be.

use crate::task::record::TaskRecord;
use crate::task::submit::{NewTask, strand};
use domain::batch::{Priority, Strand};
use domain::task::{Labels, Run};
use domain::time::{Timestamp, format_duration};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// A change of a task. What is `None` stays.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskChange {
    /// When it is due.
    pub run_at: Option<Timestamp>,
    /// Due this long after the change; not together with `run_at`.
    pub delay: Option<Duration>,
    /// How long after it is due it may start.
    pub delay_tolerance: Option<Duration>,
    /// How long an attempt may run.
    pub execution_cap: Option<Duration>,
    /// Before or after others of its tenant.
    pub priority: Option<Priority>,
    /// Limit on charged attempts.
    pub max_attempts: Option<u32>,
    /// Its labels, all of them.
    pub labels: Option<Labels>,
    /// What it runs.
    pub run: Option<Run>,
    /// The strand in which it is then.
    pub(super) strand: Strand,
}

impl TaskChange {
    /// What makes `before` what is `wanted`. Only the fields that may change are compared.
    #[must_use]
    pub fn between(before: &TaskRecord, wanted: &NewTask) -> Self {
        fn of<T: PartialEq + Clone>(before: &T, wanted: &T) -> Option<T> {
            (before != wanted).then(|| wanted.clone())
        }
        Self {
            run_at: wanted.run_at.filter(|at| *at != before.run_at),
            delay: wanted.delay,
            delay_tolerance: of(&before.delay_tolerance, &wanted.delay_tolerance),
            execution_cap: of(&before.execution_cap, &wanted.execution_cap),
            priority: of(&before.priority, &wanted.priority),
            max_attempts: of(&before.max_attempts, &wanted.max_attempts),
            labels: of(&before.labels, &wanted.spec.labels),
            run: before.run.as_ref().and_then(|run| of(run, &wanted.spec.run)),
            strand: strand(wanted),
        }
    }

    /// Whether nothing changes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.run_at.is_none()
            && self.delay.is_none()
            && self.delay_tolerance.is_none()
            && self.execution_cap.is_none()
            && self.priority.is_none()
            && self.max_attempts.is_none()
            && self.labels.is_none()
            && self.run.is_none()
    }

    /// The fields that changed as `task` has them, for the audit. What it runs may be secret, and is only named.
    pub(super) fn shown(&self, task: &TaskRecord) -> Value {
        let fields = [
            ("run_at", self.run_at.is_some() || self.delay.is_some(), json!(task.run_at)),
            (
                "delay_tolerance",
                self.delay_tolerance.is_some(),
                json!(format_duration(task.delay_tolerance)),
            ),
            (
                "execution_cap",
                self.execution_cap.is_some(),
                json!(format_duration(task.execution_cap)),
            ),
            ("priority", self.priority.is_some(), json!(task.priority)),
            ("max_attempts", self.max_attempts.is_some(), json!(task.max_attempts)),
            ("labels", self.labels.is_some(), json!(task.labels)),
            ("env", self.run.is_some(), json!("not shown")),
        ];
        let changed = fields.into_iter().filter(|(_, changed, _)| *changed);
        let mut shown: Map<_, _> =
            changed.map(|(name, _, value)| (name.to_owned(), value)).collect();
        shown.insert("version".to_owned(), json!(task.version));
        Value::Object(shown)
    }
}

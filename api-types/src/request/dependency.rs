//! Parents of a task to submit.

use super::Written;
use domain::dependency::Condition;
use domain::id::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Characters of a `ref`, at most.
pub const MAX_REF: usize = 100;

/// A task that another one waits for, and how it must end. In JSON `{"task": …, "on": …}`, or only what names the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The parent.
    pub task: ParentName,
    /// How it must end.
    pub on: Condition,
}

/// What names a parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParentName {
    /// Its id.
    Task(TaskId),
    /// Its place in the same batch, from 0.
    Position(usize),
    /// Its `ref` in the same batch.
    Ref(String),
}

impl Dependency {
    /// On a task that is to succeed.
    #[must_use]
    pub const fn new(task: TaskId) -> Self {
        Self { task: ParentName::Task(task), on: Condition::Succeeded }
    }
}

/// Whether `text` may be a `ref`: 1 to 100 of `a-z A-Z 0-9 _ . -`, and not like the id of a task.
#[must_use]
pub fn is_ref(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    (1..=MAX_REF).contains(&text.len()) && text.bytes().all(plain) && !text.starts_with("task_")
}

const WANTED: &str = "must be the id of a task, the `ref` or the position of another task of the batch, or {\"task\", \"on\"} with \
                      `on` succeeded, failed, expired, finished or skipped_ok";

impl ParentName {
    fn read(form: &Value) -> Option<Self> {
        match form {
            Value::String(text) if is_ref(text) => Some(Self::Ref(text.clone())),
            Value::String(text) => text.parse().ok().map(Self::Task),
            Value::Number(number) => {
                number.as_u64().and_then(|n| usize::try_from(n).ok()).map(Self::Position)
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Task(id) => id.to_string().into(),
            Self::Position(position) => (*position).into(),
            Self::Ref(name) => name.as_str().into(),
        }
    }
}

/// The long form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    task: Value,
    #[serde(default)]
    on: Condition,
}

impl Written for Dependency {
    type Form = Value;
    type Error = &'static str;

    fn read(form: &Value) -> Result<Self, &'static str> {
        let (task, on) = if form.is_object() {
            let long = Long::deserialize(form).map_err(|_| WANTED)?;
            (ParentName::read(&long.task), long.on)
        } else {
            (ParentName::read(form), Condition::default())
        };
        task.map(|task| Self { task, on }).ok_or(WANTED)
    }

    fn write(&self) -> Value {
        if self.on == Condition::default() {
            return self.task.write();
        }
        // Of texts and numbers: nothing in it can fail.
        serde_json::to_value(Long { task: self.task.write(), on: self.on }).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Given;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_parent_is_named_by_id_ref_or_position() {
        let id = TaskId::fresh();
        let read =
            |form: Value| serde_json::from_value::<Given<Dependency>>(form).unwrap().read().ok();
        assert_eq!(read(json!(id)), Some(Dependency::new(id)));
        let first = Dependency { task: ParentName::Position(0), on: Condition::Succeeded };
        assert_eq!(read(json!(0)), Some(first));
        let failed = Dependency { task: ParentName::Ref("load".to_owned()), on: Condition::Failed };
        assert_eq!(read(json!({"task": "load", "on": "failed"})), Some(failed.clone()));
        assert_eq!(failed.write(), json!({"task": "load", "on": "failed"}));
        for wrong in [
            json!("task_1"),
            json!(""),
            json!("a b"),
            json!(-1),
            json!(null),
            json!([0]),
            json!({"on": "failed"}),
            json!({"task": "a", "on": "done"}),
            json!({"task": "a", "at": 1}),
        ] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
    }
}

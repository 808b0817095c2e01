//! What a fire makes, as it is stored: a task, or a run of a workflow.

use super::template::TaskTemplate;
use serde::{Deserialize, Serialize};

/// What each fire of a schedule makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FireTemplate {
    /// A run of a workflow.
    Workflow(WorkflowStart),
    /// A task.
    Task(Box<TaskTemplate>),
}

/// A workflow that each fire runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowStart {
    /// The name of the definition; the version is that of the time of the fire.
    pub workflow: String,
    /// The input of the runs, JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

impl From<TaskTemplate> for FireTemplate {
    fn from(task: TaskTemplate) -> Self {
        Self::Task(Box::new(task))
    }
}

impl FireTemplate {
    /// The task, if it makes one.
    #[must_use]
    pub fn task(&self) -> Option<&TaskTemplate> {
        match self {
            Self::Task(task) => Some(task),
            Self::Workflow(_) => None,
        }
    }

    /// The workflow, if it runs one.
    #[must_use]
    pub const fn workflow(&self) -> Option<&WorkflowStart> {
        match self {
            Self::Workflow(start) => Some(start),
            Self::Task(_) => None,
        }
    }

    /// Whether the database stores what it makes.
    #[must_use]
    pub fn is_in_range(&self) -> bool {
        match self {
            Self::Task(task) => task.is_in_range(),
            // The definition was checked when it was stored, and the input is put in before anything is written.
            Self::Workflow(_) => true,
        }
    }

    /// Whether what it makes can run one after the other, by a concurrency key of the schedule.
    #[must_use]
    pub fn can_queue(&self) -> bool {
        self.task().is_some_and(|task| task.concurrency_key.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_template_of_each_kind_reads_back_as_written_and_no_other_does() {
        let task = json!({"pool": "default", "resources": crate::resources::Tier::Basic.resources(), "run": {"noop": {}},
            "delay_tolerance": "0s", "execution_cap": "1m", "expire_if_late": false, "priority": 0, "flexible": false,
            "max_attempts": 1, "delivery": "at_least_once"});
        let read =
            |json: &serde_json::Value| serde_json::from_str::<FireTemplate>(&json.to_string());
        let template = read(&task).unwrap();
        assert!(template.task().is_some() && template.workflow().is_none() && template.can_queue());
        let text = serde_json::to_string(&template).unwrap();
        assert_eq!(serde_json::from_str::<FireTemplate>(&text).unwrap(), template);
        let input = r#"{"big":123456789012345678901234567890}"#;
        let template = read(&json!({"workflow": "nightly", "input": input})).unwrap();
        let start = template.workflow().unwrap();
        assert_eq!((start.workflow.as_str(), start.input.as_deref()), ("nightly", Some(input)));
        assert!(template.task().is_none() && !template.can_queue() && template.is_in_range());
        let text = serde_json::to_string(&template).unwrap();
        assert_eq!(serde_json::from_str::<FireTemplate>(&text).unwrap(), template);
        let mut both = task;
        both["workflow"] = json!("nightly");
        for bad in [both, json!({}), json!({"workflow": 1}), json!({"workflow": "a", "version": 1})]
        {
            assert!(read(&bad).is_err(), "{bad}");
        }
    }
}

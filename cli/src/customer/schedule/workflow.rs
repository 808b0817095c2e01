//! The workflow of which a schedule starts runs, as flags: of `berth schedule put` and `edit`.

use super::super::submit::parsed_json;
use super::super::task_arguments::FIELDS as TASK_FIELDS;
use client::request::ScheduleWorkflow;
use serde_json::Value;

/// A workflow and the input of its runs.
#[derive(Debug, clap::Args)]
pub struct WorkflowArguments {
    /// Stored workflow of which each fire starts a run, instead of a task.
    #[arg(long, value_name = "NAME", conflicts_with_all = TASK_FIELDS, conflicts_with_all = ["command", "http", "noop"],
        help_heading = "Workflow")]
    pub workflow: Option<String>,
    /// Input of the runs, as JSON.
    #[arg(long, value_name = "JSON", value_parser = parsed_json, conflicts_with_all = TASK_FIELDS,
        conflicts_with_all = ["command", "http", "noop"], help_heading = "Workflow")]
    pub input: Option<Value>,
}

impl WorkflowArguments {
    /// What was given.
    pub fn given(self) -> Option<ScheduleWorkflow> {
        let Self { workflow, input } = self;
        (workflow.is_some() || input.is_some())
            .then_some(ScheduleWorkflow { name: workflow, input })
    }
}

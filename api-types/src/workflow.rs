//! Workflows, their runs and graphs, as the API shows them.

use crate::{ActorId, DateTime, Extensible, RawJson, TaskWarning, UsageAmounts};
use domain::dependency::{Condition, Join};
use domain::id::{ScheduleId, TaskId, WorkflowRunId};
use domain::task::State;
use domain::workflow::RunState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// Version, from 1.
    pub version: i64,
    /// Number of its nodes.
    pub nodes: u64,
    /// The definition, as it was stored.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::request::WorkflowDefinition))]
    pub definition: RawJson,
    /// When it was created.
    pub created_at: DateTime,
    /// When it was last changed.
    pub updated_at: DateTime,
    /// Key or sign-in that last changed it.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub updated_by: ActorId,
    /// Warnings, only in the response to a PUT. Absent if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub warnings: Vec<TaskWarning>,
}

/// A version of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowVersion {
    /// Name of the workflow.
    pub name: String,
    /// The version, from 1.
    pub version: i64,
    /// Number of its nodes.
    pub nodes: u64,
    /// The definition, as it was stored. Absent in a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::request::WorkflowDefinition, required = false))]
    pub definition: Option<RawJson>,
    /// When it was stored.
    pub stored_at: DateTime,
    /// Key or sign-in that stored it.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub stored_by: ActorId,
}

/// A workflow that was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeletedWorkflow {
    /// Its name.
    pub name: String,
    /// True.
    pub deleted: bool,
}

/// A workflow run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowRun {
    /// `run_` and 32 hex digits.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "run_0190a6f3c1d27a3e8b1f0c2d4e5f6071"))]
    pub id: WorkflowRunId,
    /// Its workflow; null if the definition came with the run.
    pub workflow: Option<String>,
    /// Version of the workflow.
    pub version: Option<i64>,
    /// Its state.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::WorkflowRunState))]
    pub state: Extensible<RunState>,
    /// Its tasks, with the items of `for_each`, without those that a re-run took over.
    pub tasks: u64,
    /// Tasks that have ended; up to a second old.
    pub ended: u64,
    /// Tasks that ended neither `succeeded` nor `skipped`.
    pub failed: u64,
    /// Its input. Absent in a list, and if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value, required = false))]
    pub input: Option<RawJson>,
    /// Labels of its workflow.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Labels))]
    pub labels: BTreeMap<String, String>,
    /// When it was started.
    pub created_at: DateTime,
    /// When it is stopped.
    pub deadline_at: Option<DateTime>,
    /// When it ended.
    pub finished_at: Option<DateTime>,
    /// Reason of its end.
    pub reason: Option<String>,
    /// The run that it runs again; null if none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub rerun_of: Option<WorkflowRunId>,
    /// The schedule that started it; of a re-run, the run before. Null if none.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub schedule: Option<ScheduleId>,
    /// Name of that schedule at the time of the fire.
    #[serde(default)]
    pub schedule_name: Option<String>,
    /// The due time for which it was started. Null without `schedule`.
    #[serde(default)]
    pub due_at: Option<DateTime>,
    /// Key or sign-in that started it, or that stored its schedule.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub started_by: ActorId,
    /// What attempts of its tasks that have ended used, without tasks that a re-run took over. Only with `include=usage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<UsageAmounts>, nullable = false))]
    pub usage: Option<UsageAmounts>,
}

impl WorkflowRun {
    /// Whether it has ended.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.finished_at.is_some()
    }
}

/// The run and the result of the cancel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CancelledWorkflowRun {
    /// The run now.
    pub run: WorkflowRun,
    /// The result: `requested`, `already_requested` or `already_ended`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::CancelResult))]
    pub cancel: Extensible<crate::CancelResult>,
}

/// The graph of a run, to be drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowGraph {
    /// The run.
    pub run: WorkflowRun,
    /// Its nodes, in the order of the definition.
    pub nodes: Vec<GraphNode>,
}

/// A node of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowGraphNode))]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// Its task.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub task: TaskId,
    /// State of its task; null if it is in no history any more.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::State>))]
    pub state: Option<Extensible<State>>,
    /// Number of its layer, from 0: one more than the largest of its parents.
    pub layer: u32,
    /// Its parents.
    pub after: Vec<GraphParent>,
    /// How many of them must end as asked; null if there are none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Join>))]
    pub join: Option<Extensible<Join>>,
    /// What it waits for now besides its parents; null if for nothing.
    pub waits_for: Option<GraphWait>,
    /// Its items, with `for_each`; null without, and before its parents have ended.
    pub items: Option<Vec<GraphItem>>,
    /// Whether its task is of the run that this one runs again.
    pub taken_over: bool,
    /// While it waits for its parents: by when it starts, if each unfinished node before it needs its execution cap, and none waits for
    /// room or is retried. Null if it does not wait for parents, or a signal or a person without a time limit is before it.
    #[serde(default)]
    pub starts_by: Option<DateTime>,
    /// Attempts so far.
    pub attempts: u32,
    /// When its first attempt was placed.
    pub started_at: Option<DateTime>,
    /// When it ended.
    pub finished_at: Option<DateTime>,
    /// Reason of its end.
    pub reason: Option<String>,
}

/// A parent of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowGraphParent))]
pub struct GraphParent {
    /// Its name.
    pub node: String,
    /// How it must end.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Condition))]
    pub on: Extensible<Condition>,
}

/// What a node waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowGraphWait))]
pub struct GraphWait {
    /// The signal with this key; null: a person.
    pub signal: Option<String>,
}

/// An item of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowGraphItem))]
pub struct GraphItem {
    /// Its task.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub task: TaskId,
    /// State of its task.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::State>))]
    pub state: Option<Extensible<State>>,
}

/// A signal that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Signal {
    /// Its key.
    pub key: String,
    /// Nodes that waited for it, and go on.
    pub nodes: u64,
    /// Until when nodes find it that begin to wait later.
    pub expires_at: DateTime,
}

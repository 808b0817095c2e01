//! A run as it is stored.

use crate::StoreError;
use crate::task::spec;
use crate::task::submit::FiredBy;
use crate::workflow::definition::read_plan;
use domain::id::{ScheduleId, TaskId, TenantId, WorkflowRunId};
use domain::task::Labels;
use domain::time::Timestamp;
use domain::workflow::{Plan, RunState};
use uuid::Uuid;

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// The tenant.
    pub tenant: TenantId,
    /// Its id.
    pub id: WorkflowRunId,
    /// Of which definition; `None` where it came with the run.
    pub workflow: Option<String>,
    /// In which version of it.
    pub version: Option<i64>,
    /// How it stands.
    pub state: RunState,
    /// What it was started with, JSON.
    pub input: Option<String>,
    /// Its plan, with the input in it, JSON. Empty in a list.
    pub plan: String,
    /// The task of each node, in the order of the plan.
    pub tasks: Vec<TaskId>,
    /// Tasks of the run, with the items of `for_each`, without those that it took over.
    pub total: i64,
    /// How many of them have ended.
    pub ended: i64,
    /// How many of these neither succeeded nor were skipped.
    pub failed: i64,
    /// Its labels.
    pub labels: Labels,
    /// When it was started.
    pub created_at: Timestamp,
    /// When it is stopped.
    pub deadline_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Why it ended as it did, for people.
    pub reason: Option<String>,
    /// The run that it runs again.
    pub rerun_of: Option<WorkflowRunId>,
    /// Its oldest task may be that old.
    pub tasks_since: Timestamp,
    /// The key or the sign-in that started it, or that stored its schedule.
    pub started_by: String,
    /// The fire of a schedule that started it, or the run that it runs again.
    pub fired: Option<FiredBy>,
}

impl RunRecord {
    /// Its plan.
    ///
    /// # Errors
    /// `Malformed` where another release wrote it, or it was read in a list.
    pub fn plan(&self) -> Result<Plan, StoreError> {
        read_plan(&self.id.to_string(), &self.plan)
    }
}

/// A row as the reading statements give it.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct RunRow {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub workflow: Option<String>,
    pub version: Option<i64>,
    pub state: String,
    pub input: Option<String>,
    pub plan: String,
    pub tasks: Vec<Uuid>,
    pub total: i64,
    pub ended: i64,
    pub failed: i64,
    pub labels: Option<String>,
    pub created_at: Timestamp,
    pub deadline_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub reason: Option<String>,
    pub rerun_of: Option<Uuid>,
    pub tasks_since: Timestamp,
    pub started_by: String,
    pub schedule_id: Option<Uuid>,
    pub schedule_name: Option<String>,
    pub due_at: Option<Timestamp>,
}

impl TryFrom<RunRow> for RunRecord {
    type Error = StoreError;

    fn try_from(row: RunRow) -> Result<Self, StoreError> {
        let id = WorkflowRunId(row.id);
        let malformed = |value: &str| StoreError::Malformed {
            what: "state",
            row: id.to_string(),
            value: value.to_owned(),
        };
        Ok(Self {
            tenant: TenantId(row.tenant_id),
            id,
            state: row.state.parse().map_err(|()| malformed(&row.state))?,
            workflow: row.workflow,
            version: row.version,
            input: row.input,
            plan: row.plan,
            tasks: row.tasks.into_iter().map(TaskId).collect(),
            total: row.total,
            ended: row.ended,
            failed: row.failed,
            labels: spec::labels(row.labels.as_deref()),
            created_at: row.created_at,
            deadline_at: row.deadline_at,
            finished_at: row.finished_at,
            reason: row.reason,
            rerun_of: row.rerun_of.map(WorkflowRunId),
            tasks_since: row.tasks_since,
            started_by: row.started_by,
            fired: row.schedule_id.zip(row.schedule_name).zip(row.due_at).map(
                |((schedule, name), due_at)| FiredBy {
                    schedule: ScheduleId(schedule),
                    name,
                    due_at,
                },
            ),
        })
    }
}

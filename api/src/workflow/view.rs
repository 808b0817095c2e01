//! Workflows and runs as they are shown.

use crate::problem::{Code, Problem};
use api_types::{RawJson, TaskWarning, Workflow, WorkflowRun, WorkflowVersion};
use store::workflow::run::RunRecord;
use store::workflow::{VersionRecord, WorkflowRecord};

/// A workflow.
///
/// # Errors
/// `internal` where it was stored by no release of Berth.
pub fn workflow(record: WorkflowRecord, warnings: Vec<TaskWarning>) -> Result<Workflow, Problem> {
    Ok(Workflow {
        name: record.name,
        version: record.version,
        nodes: record.nodes.unsigned_abs(),
        definition: RawJson::parse(&record.definition).ok_or_else(internal)?,
        created_at: record.created_at,
        updated_at: record.updated_at,
        updated_by: record.updated_by.into(),
        warnings,
    })
}

/// A version of a workflow; one of a list has no definition.
///
/// # Errors
/// `internal` where it was stored by no release of Berth.
pub fn version(name: &str, record: VersionRecord) -> Result<WorkflowVersion, Problem> {
    let definition = record.definition.as_deref();
    let definition = definition.map(|text| RawJson::parse(text).ok_or_else(internal));
    Ok(WorkflowVersion {
        name: name.to_owned(),
        version: record.version,
        nodes: record.nodes.unsigned_abs(),
        definition: definition.transpose()?,
        stored_at: record.stored_at,
        stored_by: record.stored_by.into(),
    })
}

/// A run.
#[must_use]
pub fn run(record: &RunRecord) -> WorkflowRun {
    WorkflowRun {
        id: record.id,
        workflow: record.workflow.clone(),
        version: record.version,
        state: record.state.into(),
        tasks: record.total.unsigned_abs(),
        ended: record.ended.unsigned_abs(),
        failed: record.failed.unsigned_abs(),
        input: record.input.as_deref().and_then(RawJson::parse),
        labels: record.labels.clone(),
        created_at: record.created_at,
        deadline_at: record.deadline_at,
        finished_at: record.finished_at,
        reason: record.reason.clone(),
        rerun_of: record.rerun_of,
        schedule: record.fired.as_ref().map(|fired| fired.schedule),
        schedule_name: record.fired.as_ref().map(|fired| fired.name.clone()),
        due_at: record.fired.as_ref().map(|fired| fired.due_at),
        started_by: record.started_by.clone().into(),
        usage: None,
    }
}

fn internal() -> Problem {
    Problem::new(Code::Internal, Code::Internal.advice())
}

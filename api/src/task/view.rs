//! A task as it is shown.

use crate::answer::to_json;
use crate::problem::{Code, Problem};
use api_types::{Extensible, Retry, Task, TaskWarning};
use domain::task::{RetryPolicy, Run};
use serde::de::DeserializeOwned;
use store::task::TaskRecord;

/// The task of a record.
///
/// # Errors
/// `internal` when the record holds text that is no JSON.
pub fn task(record: TaskRecord) -> Result<Task, Problem> {
    // What its executor could not read either is absent; the owner sees the rest.
    let run = run(&record.run_json);
    Ok(Task { run, ..task_without_run(record)? })
}

/// The same without what it runs, which may be large.
///
/// # Errors
/// As [`task`].
pub fn task_without_run(record: TaskRecord) -> Result<Task, Problem> {
    let retry = record.retry_json.as_deref();
    let retry = retry.and_then(|json| serde_json::from_str::<RetryPolicy>(json).ok());
    Ok(Task {
        id: record.id,
        name: record.name,
        state: record.state.into(),
        pool: record.pool,
        tier: record.tier.map(Extensible::Known),
        resources: record.resources,
        run: None,
        created_at: record.created_at,
        run_at: record.run_at,
        start_deadline: record.start_deadline,
        delay_tolerance: record.delay_tolerance,
        execution_cap: record.execution_cap,
        expire_if_late: record.expire_if_late,
        priority: record.priority,
        flexible: record.flexible,
        concurrency_key: record.concurrency_key.map(|key| key.as_str().to_owned()),
        max_attempts: record.max_attempts,
        attempts: record.attempts,
        failures: record.failures,
        retry: Retry::from(retry.unwrap_or_default()),
        delivery: record.delivery.into(),
        unique_key: record.unique_key,
        labels: stored(record.labels_json.as_deref().unwrap_or("{}"))?,
        started_at: record.started_at,
        finished_at: record.finished_at,
        reason: record.reason,
        exit_code: record.exit_code,
        executor: record.executor,
        schedule: record.schedule,
        rerun_of: record.rerun_of,
        schedule_name: record.schedule_name,
        due_at: record.due_at,
        warnings: Vec::new(),
    })
}

/// The task as JSON, as whoever submitted it just now is answered.
///
/// # Errors
/// As [`task`].
pub fn submitted_json(record: TaskRecord, warnings: Vec<TaskWarning>) -> Result<Vec<u8>, Problem> {
    to_json(&Task { warnings, ..task(record)? })
}

/// What a task runs; what another release wrote as it is.
fn run(json: &str) -> Option<Extensible<Run>> {
    match serde_json::from_str(json) {
        Ok(run) => Some(Extensible::Known(run)),
        Err(_) => serde_json::from_str(json).ok(),
    }
}

fn stored<T: DeserializeOwned>(json: &str) -> Result<T, Problem> {
    serde_json::from_str(json)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error))
}

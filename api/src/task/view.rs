//! A task as it is shown.

use api_types::{Extensible, Retry, Task, TaskParent, TaskReservation};
use domain::dependency::Edge;
use store::task::TaskRecord;

/// The task of a record. What this release cannot read of what it runs is absent.
#[must_use]
pub fn task(mut record: TaskRecord) -> Task {
    let run = record.run.take().map(Extensible::Known);
    Task { run, ..task_without_run(record) }
}

/// The same without what it runs, which may be large.
#[must_use]
pub fn task_without_run(record: TaskRecord) -> Task {
    Task {
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
        retry: Retry::from(record.retry.unwrap_or_default()),
        delivery: record.delivery.into(),
        unique_key: record.unique_key,
        labels: record.labels,
        started_at: record.started_at,
        finished_at: record.finished_at,
        reason: record.reason,
        exit_code: record.exit_code,
        executor: record.executor,
        schedule: record.schedule,
        rerun_of: record.rerun_of,
        depends_on: record.depends_on.iter().flat_map(|all| &all.edges).map(parent).collect(),
        join: record.depends_on.as_ref().map(|all| all.join.into()),
        workflow_run: record.workflow_run,
        node: record.node,
        schedule_name: record.schedule_name,
        due_at: record.due_at,
        version: record.version,
        reservation: record.reservation.map(reservation),
        cost: None,
        warnings: Vec::new(),
    }
}

fn reservation(reserved: store::task::TaskReservation) -> TaskReservation {
    let store::task::TaskReservation { amount, spent, currency, book, caps } = reserved;
    TaskReservation { amount, spent, currency, price_book: book, caps }
}

fn parent(edge: &Edge) -> TaskParent {
    TaskParent { task: edge.parent, on: edge.on.into() }
}

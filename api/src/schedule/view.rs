//! A schedule and its fires as they are shown.

use api_types::{
    Extensible, Fire, FireKind, RawJson, Retry, Schedule, SchedulePaused, ScheduleState,
    ScheduleTask, ScheduledWorkflow, TaskWarning,
};
use domain::schedule::{FireTemplate, TaskTemplate, WorkflowStart, tzdb_of};
use store::schedule::{self, FireRecord, Pause, ScheduleRecord};

/// The schedule of a record, with what its owner should know of it.
#[must_use]
pub fn schedule(record: ScheduleRecord, warnings: Vec<TaskWarning>) -> Schedule {
    let state = match (record.ended_at, &record.paused) {
        (Some(_), _) => ScheduleState::Over,
        (None, Some(_)) => ScheduleState::Paused,
        (None, None) => ScheduleState::Active,
    };
    let (template_task, template_workflow) = match record.template {
        FireTemplate::Task(template) => (Some(task(*template)), None),
        FireTemplate::Workflow(start) => (None, Some(workflow(start))),
    };
    Schedule {
        id: record.id,
        name: record.name,
        version: record.version,
        state: state.into(),
        timing: record.timing.into(),
        task: template_task,
        workflow: template_workflow,
        overlap: record.overlap.into(),
        misfire: record.misfire.into(),
        pause_after_failures: record.pause_after_failures,
        failures_in_row: record.failures_in_row,
        paused: record.paused.map(paused),
        next_due_at: record.next_at,
        next_fire_at: record.next_fire_at,
        fires: record.fires,
        recent_tasks: record.recent,
        recent_runs: record.recent_runs,
        tzdb: tzdb_of(&record.tzdb).to_owned(),
        created_by: record.created_by,
        created_at: record.created_at,
        updated_at: record.updated_at,
        ended_at: record.ended_at,
        warnings,
    }
}

fn paused(pause: Pause) -> SchedulePaused {
    SchedulePaused { at: pause.at, by: pause.by, reason: pause.because }
}

/// The fire of a record.
#[must_use]
pub fn fire(record: &FireRecord) -> Fire {
    let kind = match record.kind {
        schedule::FireKind::Scheduled => FireKind::Scheduled,
        schedule::FireKind::Trigger => FireKind::Trigger,
        schedule::FireKind::Backfill => FireKind::Backfill,
    };
    Fire {
        due_at: record.due_at,
        outcome: record.outcome.into(),
        kind: kind.into(),
        fired_at: record.fired_at,
        task: record.task,
        workflow_run: record.run,
        version: record.version,
        detail: record.detail.clone(),
    }
}

/// A start of runs as it is shown.
pub(super) fn workflow(WorkflowStart { workflow, input }: WorkflowStart) -> ScheduledWorkflow {
    ScheduledWorkflow { name: workflow, input: input.as_deref().and_then(RawJson::parse) }
}

/// A template in the form of a task that is submitted.
pub(super) fn task(template: TaskTemplate) -> ScheduleTask {
    ScheduleTask {
        name: template.name,
        tier: template.tier.map(Extensible::Known),
        // What a tier means is not said again: the two cannot be given together.
        resources: template.tier.is_none().then_some(template.resources),
        run: template.run.into(),
        delay_tolerance: template.delay_tolerance,
        execution_cap: template.execution_cap,
        expire_if_late: template.expire_if_late,
        priority: template.priority,
        flexible: template.flexible,
        max_attempts: template.max_attempts,
        retry: template.retry.map(Retry::from),
        delivery: template.delivery.into(),
        pool: template.pool,
        concurrency_key: template.concurrency_key,
        unique_key: template.unique_key,
        labels: template.labels,
    }
}

//! Makes a task of a schedule's template.

use crate::task::submit::{FiredBy, NewTask};
use domain::batch::ConcurrencyKey;
use domain::id::{ScheduleId, TaskId, TenantId};
use domain::schedule::{Overlap, TaskTemplate};
use domain::task::TaskSpec;
use domain::time::Timestamp;
use std::time::Duration;

/// The schedule for which a task is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maker<'a> {
    pub tenant: TenantId,
    pub schedule: ScheduleId,
    /// What it is called now.
    pub name: &'a str,
    pub overlap: Overlap,
    pub template: &'a TaskTemplate,
    /// By what the task comes.
    pub key_id: &'a str,
}

/// The task of the due time `due_at`, to run `delay` after it is stored. Tasks that are to run one after the other share a key of their schedule's own.
pub(crate) fn task(of: Maker<'_>, id: TaskId, due_at: Timestamp, delay: Duration) -> NewTask {
    let Maker { tenant, schedule, name, overlap, template, key_id } = of;
    let own_key = || overlap.is_buffered().then(|| ConcurrencyKey(schedule.to_string().into()));
    let spec = TaskSpec {
        run: template.run.clone(),
        retry: template.retry.clone(),
        labels: template.labels.clone(),
    };
    NewTask {
        tenant,
        id,
        name: template.name.clone(),
        pool: template.pool.clone(),
        tier: template.tier,
        resources: template.resources,
        spec,
        delay: (!delay.is_zero()).then_some(delay),
        run_at: None,
        delay_tolerance: template.delay_tolerance,
        execution_cap: template.execution_cap,
        expire_if_late: template.expire_if_late,
        priority: template.priority,
        flexible: template.flexible,
        concurrency_key: template
            .concurrency_key
            .as_deref()
            .map(|key| ConcurrencyKey(key.into()))
            .or_else(own_key),
        max_attempts: template.max_attempts,
        delivery: template.delivery,
        unique_key: template.unique_key.clone(),
        traceparent: None,
        key_id: key_id.to_owned(),
        schedule: Some(FiredBy { schedule, name: name.to_owned(), due_at }),
        rerun_of: None,
        reservation: None,
        node: None,
        depends_on: None,
        idempotency: None,
    }
}

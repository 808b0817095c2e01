//! A new task as the row that the statements take.

use super::NewTask;
use crate::rows::row_of;
use crate::task::spec::JsonText;
use domain::batch::{Conditions, Strand};
use domain::price::Use;
use domain::task::{Delivery, DriverName, Labels, RetryPolicy, Run};
use domain::time::{Timestamp, millis};
use uuid::Uuid;

/// A row of `submission`, in the order of its columns.
#[derive(sqlx::Encode)]
pub(super) struct SubmittedTask<'a> {
    tenant_id: Uuid,
    id: Uuid,
    pool: &'a str,
    tier: Option<&'a str>,
    cpu_millis: i32,
    memory_mib: i32,
    disk_mib: i32,
    iops: i32,
    ports: i32,
    slots: i32,
    delay_ms: i64,
    at: Option<Timestamp>,
    tolerance_ms: i64,
    cap_ms: i64,
    max_attempts: i32,
    expire_if_late: bool,
    at_most_once: bool,
    priority: i16,
    flexible: bool,
    concurrency_key: Option<&'a str>,
    strand: i64,
    name: Option<&'a str>,
    run: JsonText<'a, Run>,
    retry: Option<JsonText<'a, RetryPolicy>>,
    labels: Option<JsonText<'a, Labels>>,
    traceparent: Option<&'a str>,
    key_id: &'a str,
    schedule_id: Option<Uuid>,
    due_at: Option<Timestamp>,
    schedule_name: Option<&'a str>,
    unique_key: Option<&'a str>,
    route: Option<&'a str>,
    key: Option<&'a str>,
    body_hash: Option<&'a [u8]>,
    driver: &'a str,
}
row_of!("submission": SubmittedTask<'_>);

impl<'a> From<&'a NewTask> for SubmittedTask<'a> {
    fn from(task: &'a NewTask) -> Self {
        let size = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
        let [cpu_millis, memory_mib, disk_mib, iops, ports] = task.resources.dimensions().map(size);
        let idempotency = task.idempotency.as_ref();
        let (fired, spec) = (task.schedule.as_ref(), &task.spec);
        Self {
            tenant_id: task.tenant.uuid(),
            id: task.id.uuid(),
            pool: task.pool.as_str(),
            tier: task.tier.map(|tier| tier.as_str()),
            cpu_millis,
            memory_mib,
            disk_mib,
            iops,
            ports,
            slots: size(task.resources.slots()),
            delay_ms: task.delay.map_or(0, millis),
            at: task.run_at,
            tolerance_ms: millis(task.delay_tolerance),
            cap_ms: millis(task.execution_cap),
            max_attempts: size(task.max_attempts),
            expire_if_late: task.expire_if_late,
            at_most_once: task.delivery == Delivery::AtMostOnce,
            priority: task.priority.level().into(),
            flexible: task.flexible,
            concurrency_key: task.concurrency_key.as_ref().map(|key| &*key.0),
            strand: strand(task).0,
            name: task.name.as_deref(),
            run: JsonText(&spec.run),
            retry: spec.retry.as_ref().map(JsonText),
            labels: (!spec.labels.is_empty()).then_some(JsonText(&spec.labels)),
            traceparent: task.traceparent.as_deref(),
            key_id: &task.key_id,
            schedule_id: fired.map(|fired| fired.schedule.uuid()),
            due_at: fired.map(|fired| fired.due_at),
            schedule_name: fired.map(|fired| fired.name.as_str()),
            unique_key: task.unique_key.as_deref(),
            route: idempotency.map(|key| key.route.as_str()),
            key: idempotency.map(|key| key.key.as_str()),
            body_hash: idempotency.map(|key| key.body_hash.as_slice()),
            driver: spec.run.driver(),
        }
    }
}

impl NewTask {
    /// What each of its attempts holds, for as long as one may run.
    #[must_use]
    pub fn most(&self) -> Use {
        Use {
            resources: self.resources,
            tier: self.tier,
            ms: millis(self.execution_cap).unsigned_abs(),
            tolerance_s: Some(self.delay_tolerance.as_secs()),
            flexible: self.flexible,
        }
    }

    /// What it reserves, as it is stored.
    pub(super) fn reservation_json(&self) -> Option<String> {
        self.reservation.as_ref().map(|of| serde_json::to_string(of).unwrap_or_default())
    }
}

/// Which strand of its tenant's tasks it is in.
pub(in crate::task) fn strand(task: &NewTask) -> Strand {
    Strand::of(Conditions {
        resources: task.resources,
        priority: task.priority,
        flexible: task.flexible,
        expire_if_late: task.expire_if_late,
        tolerance: task.delay_tolerance,
        key: task.concurrency_key.as_ref(),
        driver: DriverName::try_from(&task.spec.run).ok(),
    })
}

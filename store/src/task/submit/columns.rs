//! A slice of new tasks as the arrays the statements take.

use super::NewTask;
use domain::batch::{Conditions, Strand};
use domain::task::Delivery;
use domain::time::{Timestamp, millis};
use uuid::Uuid;

pub(super) struct Columns {
    pub tenants: Vec<Uuid>,
    pub ids: Vec<Uuid>,
    pub pools: Vec<String>,
    pub tiers: Vec<Option<String>>,
    pub resources: [Vec<i32>; 5],
    pub slots: Vec<i32>,
    pub delay_ms: Vec<i64>,
    pub run_at: Vec<Option<Timestamp>>,
    pub tolerance_ms: Vec<i64>,
    pub cap_ms: Vec<i64>,
    pub max_attempts: Vec<i32>,
    pub expire_if_late: Vec<bool>,
    pub at_most_once: Vec<bool>,
    pub priorities: Vec<i16>,
    pub flexible: Vec<bool>,
    pub concurrency_keys: Vec<Option<String>>,
    pub strands: Vec<i64>,
    pub unique_keys: Vec<Option<String>>,
    pub names: Vec<Option<String>>,
    pub runs: Vec<String>,
    pub retries: Vec<Option<String>>,
    pub labels: Vec<Option<String>>,
    pub traceparents: Vec<Option<String>>,
    pub key_ids: Vec<String>,
    pub schedules: Vec<Option<Uuid>>,
    pub routes: Vec<Option<String>>,
    pub keys: Vec<Option<String>>,
    pub body_hashes: Vec<Option<Vec<u8>>>,
}

impl Columns {
    pub(super) fn of(tasks: &[NewTask]) -> Self {
        let size = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
        Self {
            tenants: tasks.iter().map(|t| t.tenant.uuid()).collect(),
            ids: tasks.iter().map(|t| t.id.uuid()).collect(),
            pools: tasks.iter().map(|t| t.pool.to_string()).collect(),
            tiers: tasks.iter().map(|t| t.tier.map(|tier| tier.as_str().to_owned())).collect(),
            resources: std::array::from_fn(|d| {
                tasks.iter().map(|t| size(t.resources.dimensions()[d])).collect()
            }),
            slots: tasks.iter().map(|t| size(t.resources.slots())).collect(),
            delay_ms: tasks.iter().map(|t| t.delay.map_or(0, millis)).collect(),
            run_at: tasks.iter().map(|t| t.run_at).collect(),
            tolerance_ms: tasks.iter().map(|t| millis(t.delay_tolerance)).collect(),
            cap_ms: tasks.iter().map(|t| millis(t.execution_cap)).collect(),
            max_attempts: tasks.iter().map(|t| size(t.max_attempts)).collect(),
            expire_if_late: tasks.iter().map(|t| t.expire_if_late).collect(),
            at_most_once: tasks.iter().map(|t| t.delivery == Delivery::AtMostOnce).collect(),
            priorities: tasks.iter().map(|t| t.priority.level().into()).collect(),
            flexible: tasks.iter().map(|t| t.flexible).collect(),
            concurrency_keys: tasks
                .iter()
                .map(|t| t.concurrency_key.as_ref().map(ToString::to_string))
                .collect(),
            strands: tasks.iter().map(|t| strand(t).0).collect(),
            unique_keys: tasks.iter().map(|t| t.unique_key.clone()).collect(),
            names: tasks.iter().map(|t| t.name.clone()).collect(),
            runs: tasks.iter().map(|t| t.run_json.clone()).collect(),
            retries: tasks.iter().map(|t| t.retry_json.clone()).collect(),
            labels: tasks.iter().map(|t| t.labels_json.clone()).collect(),
            traceparents: tasks.iter().map(|t| t.traceparent.clone()).collect(),
            key_ids: tasks.iter().map(|t| t.key_id.clone()).collect(),
            schedules: tasks.iter().map(|t| t.schedule.map(|id| id.uuid())).collect(),
            routes: tasks.iter().map(|t| t.idempotency.as_ref().map(|k| k.route.clone())).collect(),
            keys: tasks.iter().map(|t| t.idempotency.as_ref().map(|k| k.key.clone())).collect(),
            body_hashes: tasks
                .iter()
                .map(|t| t.idempotency.as_ref().map(|k| k.body_hash.to_vec()))
                .collect(),
        }
    }
}

fn strand(task: &NewTask) -> Strand {
    Strand::of(Conditions {
        resources: task.resources,
        priority: task.priority,
        flexible: task.flexible,
        expire_if_late: task.expire_if_late,
        tolerance: task.delay_tolerance,
        key: task.concurrency_key.as_ref(),
    })
}

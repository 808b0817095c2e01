//! A task as readers see it, whether it lives or has ended.

use crate::StoreError;
use crate::task::spec;
use crate::task::submit::{Created, NewTask};
use domain::batch::{ConcurrencyKey, Priority};
use domain::dependency::Dependencies;
use domain::id::{
    ExecutorId, PoolName, PriceBookName, ScheduleId, SpendCapName, TaskId, TenantId, WorkflowRunId,
};
use domain::price::{Currency, Micros};
use domain::resources::{Resources, Tier};
use domain::task::{Delivery, Labels, RetryPolicy, Run, State};
use domain::time::Timestamp;
use std::time::Duration;
use uuid::Uuid;

/// A task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecord {
    /// The tenant.
    pub tenant: TenantId,
    /// Its id.
    pub id: TaskId,
    /// What its owner calls it.
    pub name: Option<String>,
    /// Where it runs.
    pub pool: PoolName,
    /// `None` where resources were given instead.
    pub tier: Option<Tier>,
    /// What it needs.
    pub resources: Resources,
    /// Where it is in its life.
    pub state: State,
    /// What it runs; `None` where it was not read, or this release cannot read it.
    pub run: Option<Run>,
    /// Its retry policy; `None` is the default policy.
    pub retry: Option<RetryPolicy>,
    /// Its labels.
    pub labels: Labels,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it is due, at first or again.
    pub run_at: Timestamp,
    /// Until when it should start.
    pub start_deadline: Timestamp,
    /// From `run_at` to `start_deadline`.
    pub delay_tolerance: Duration,
    /// How long an attempt may run.
    pub execution_cap: Duration,
    /// Ends `expired` when it cannot start in time.
    pub expire_if_late: bool,
    /// Before or after others of its tenant.
    pub priority: Priority,
    /// Runs where room is spare, until its tolerance is nearly used up.
    pub flexible: bool,
    /// What it shares a limit on running tasks with.
    pub concurrency_key: Option<ConcurrencyKey>,
    /// What a lost attempt means.
    pub delivery: Delivery,
    /// Limit on charged attempts.
    pub max_attempts: u32,
    /// Attempts claimed so far.
    pub attempts: u32,
    /// Charged attempts that failed.
    pub failures: u32,
    /// Unique among the tenant's tasks that have not ended.
    pub unique_key: Option<String>,
    /// When its first attempt got its lease.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Why it ended as it did, for people.
    pub reason: Option<String>,
    /// Exit code of the last attempt, once ended.
    pub exit_code: Option<i32>,
    /// Name of the executor it runs on now.
    pub executor: Option<ExecutorId>,
    /// W3C traceparent of the submit.
    pub traceparent: Option<String>,
    /// The schedule that made it.
    pub schedule: Option<ScheduleId>,
    /// The task that it runs again.
    pub rerun_of: Option<TaskId>,
    /// The tasks that it waits for, or waited for.
    pub depends_on: Option<Dependencies>,
    /// The workflow run that it is of.
    pub workflow_run: Option<WorkflowRunId>,
    /// Its node there.
    pub node: Option<String>,
    /// The name that the schedule had then.
    pub schedule_name: Option<String>,
    /// The due time it is for: of the fire that made it, else when it was first due. Retries do not change it.
    pub due_at: Timestamp,
    /// Counts the changes of its owner, from 1.
    pub version: i64,
    /// What it reserves of spend caps; `None`: it was accepted without caps, has ended, or is one of a list.
    pub reservation: Option<TaskReservation>,
}

/// What a task reserves of the spend caps of its tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskReservation {
    /// The most that it can cost, with what it has cost.
    pub amount: Micros,
    /// What its attempts have cost that have ended.
    pub spent: Micros,
    /// Of the amounts; `None`: its tenant's plan had no prices.
    pub currency: Option<Currency>,
    /// Whose prices it has.
    pub book: Option<PriceBookName>,
    /// The caps that it is of, by name, without those that are deleted.
    pub caps: Vec<SpendCapName>,
}

impl TaskRecord {
    /// The record of a task that was just created.
    #[must_use]
    pub fn created(task: &NewTask, created: &Created) -> Self {
        Self {
            tenant: task.tenant,
            id: task.id,
            name: task.name.clone(),
            pool: task.pool.clone(),
            tier: task.tier,
            resources: task.resources,
            state: created.state,
            run: Some(task.spec.run.clone()),
            retry: task.spec.retry.clone(),
            labels: task.spec.labels.clone(),
            created_at: created.created_at,
            run_at: created.run_at,
            start_deadline: created.start_deadline,
            delay_tolerance: task.delay_tolerance,
            execution_cap: task.execution_cap,
            expire_if_late: task.expire_if_late,
            priority: task.priority,
            flexible: task.flexible,
            concurrency_key: task.concurrency_key.clone(),
            delivery: task.delivery,
            max_attempts: task.max_attempts,
            attempts: 0,
            failures: 0,
            unique_key: task.unique_key.clone(),
            started_at: None,
            finished_at: None,
            reason: None,
            exit_code: None,
            executor: None,
            traceparent: task.traceparent.clone(),
            rerun_of: task.rerun_of,
            depends_on: task.depends_on.clone(),
            workflow_run: task.node.as_ref().map(|node| node.run),
            node: task.node.as_ref().map(|node| node.node.clone()),
            schedule: task.schedule.as_ref().map(|fired| fired.schedule),
            schedule_name: task.schedule.as_ref().map(|fired| fired.name.clone()),
            due_at: task.schedule.as_ref().map_or(created.run_at, |fired| fired.due_at),
            version: 1,
            reservation: None,
        }
    }
}

/// Reads the name of a task's executor.
pub(crate) fn executor_of(
    task: TaskId,
    name: Option<String>,
) -> Result<Option<ExecutorId>, StoreError> {
    let malformed =
        |value| StoreError::Malformed { what: "executor", row: task.to_string(), value };
    name.map(|name| name.parse().map_err(|_| malformed(name))).transpose()
}

/// A row as both reading statements give it.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct TaskRow {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: Option<String>,
    pub pool: String,
    pub tier: Option<String>,
    pub cpu_millis: i32,
    pub memory_mib: i32,
    pub disk_mib: i32,
    pub iops: i32,
    pub ports: i32,
    pub state: String,
    pub run: String,
    pub retry: Option<String>,
    pub labels: Option<String>,
    pub created_at: Timestamp,
    pub run_at: Timestamp,
    pub start_deadline: Timestamp,
    pub cap_ms: i64,
    pub expire_if_late: bool,
    pub priority: i16,
    pub flexible: bool,
    pub concurrency_key: Option<String>,
    pub at_most_once: bool,
    pub max_attempts: i32,
    pub attempt: i32,
    pub failures: i32,
    pub unique_key: Option<String>,
    pub first_started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub reason: Option<String>,
    pub exit_code: Option<i32>,
    pub executor: Option<String>,
    pub traceparent: Option<String>,
    pub schedule_id: Option<Uuid>,
    pub rerun_of: Option<Uuid>,
    pub depends_on: Option<String>,
    pub run_id: Option<Uuid>,
    pub node: Option<String>,
    pub schedule_name: Option<String>,
    pub due_at: Timestamp,
    pub version: i64,
    /// Of its reservation; `None` where it has none, and in lists.
    #[sqlx(default)]
    pub reserved: Option<i64>,
    #[sqlx(default)]
    pub spent: Option<i64>,
    #[sqlx(default)]
    pub reserved_book: Option<String>,
    #[sqlx(default)]
    pub reserved_currency: Option<String>,
    #[sqlx(default)]
    pub reserved_caps: Option<Vec<String>>,
}

impl TaskRow {
    /// Takes the columns of the reservation out of the row.
    fn reservation(&mut self) -> Result<Option<TaskReservation>, StoreError> {
        let Some(amount) = self.reserved else { return Ok(None) };
        let row = TaskId(self.id);
        let malformed = |what: &'static str, value: &str| StoreError::Malformed {
            what,
            row: row.to_string(),
            value: value.to_owned(),
        };
        let currency = |text: String| text.parse().map_err(|_| malformed("currency", &text));
        let book = |text: String| text.parse().map_err(|_| malformed("price book", &text));
        let cap = |text: String| text.parse().map_err(|_| malformed("spend cap", &text));
        Ok(Some(TaskReservation {
            amount: Micros(amount),
            spent: Micros(self.spent.unwrap_or(0)),
            currency: self.reserved_currency.take().map(currency).transpose()?,
            book: self.reserved_book.take().map(book).transpose()?,
            caps: self
                .reserved_caps
                .take()
                .into_iter()
                .flatten()
                .map(cap)
                .collect::<Result<_, _>>()?,
        }))
    }
}

impl TryFrom<TaskRow> for TaskRecord {
    type Error = StoreError;

    fn try_from(mut row: TaskRow) -> Result<Self, StoreError> {
        let reservation = row.reservation()?;
        let malformed = |what: &'static str, value: &str| StoreError::Malformed {
            what,
            row: TaskId(row.id).to_string(),
            value: value.chars().take(64).collect(),
        };
        Ok(Self {
            tenant: TenantId(row.tenant_id),
            id: TaskId(row.id),
            pool: row.pool.parse().map_err(|_| malformed("pool", &row.pool))?,
            tier: match row.tier.as_deref() {
                None => None,
                Some(tier) => Some(tier.parse().map_err(|_| malformed("tier", tier))?),
            },
            resources: Resources::from_dimensions(
                [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports]
                    .map(i32::unsigned_abs),
            ),
            state: row.state.parse().map_err(|_| malformed("state", &row.state))?,
            name: row.name,
            run: Run::from_json(&row.run).ok(),
            retry: spec::retry(row.retry.as_deref()),
            labels: spec::labels(row.labels.as_deref()),
            created_at: row.created_at,
            run_at: row.run_at,
            start_deadline: row.start_deadline,
            delay_tolerance: (row.start_deadline - row.run_at).to_std().unwrap_or_default(),
            execution_cap: Duration::from_millis(row.cap_ms.unsigned_abs()),
            expire_if_late: row.expire_if_late,
            priority: i8::try_from(row.priority).ok().and_then(Priority::new).unwrap_or_default(),
            flexible: row.flexible,
            concurrency_key: row.concurrency_key.map(|key| ConcurrencyKey(key.into())),
            delivery: if row.at_most_once { Delivery::AtMostOnce } else { Delivery::AtLeastOnce },
            max_attempts: row.max_attempts.unsigned_abs(),
            attempts: row.attempt.unsigned_abs(),
            failures: row.failures.unsigned_abs(),
            unique_key: row.unique_key,
            started_at: row.first_started_at,
            finished_at: row.finished_at,
            reason: row.reason,
            exit_code: row.exit_code,
            executor: executor_of(TaskId(row.id), row.executor)?,
            traceparent: row.traceparent,
            schedule: row.schedule_id.map(ScheduleId),
            rerun_of: row.rerun_of.map(TaskId),
            depends_on: spec::depends_on(row.depends_on.as_deref()),
            workflow_run: row.run_id.map(WorkflowRunId),
            node: row.node,
            schedule_name: row.schedule_name,
            due_at: row.due_at,
            version: row.version,
            reservation,
        })
    }
}

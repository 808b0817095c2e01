//! Submitting: durable before the answer.
//!
//! One answer per row. Most tasks are stored by one statement; those with unique keys, parents or a used idempotency key in a
//! transaction. What is new is decided by the database's unique indexes, never by a look before.

mod batch;
mod guarded;
mod insert;
mod links;
mod parents;
mod plain;
mod reserved;
mod row;

pub use batch::{BatchAnswer, insert_batch};
pub use guarded::stands_alone;
pub(crate) use insert::in_transaction;
pub use insert::{Submitter, insert};
pub(in crate::task) use row::strand;

use crate::idempotency::IdempotencyKey;
use crate::spend::CapRefusal;
use domain::batch::{ConcurrencyKey, Priority};
use domain::dependency::Dependencies;
use domain::id::{PoolName, ScheduleId, TaskId, TenantId, WorkflowRunId};
use domain::price::Reservation;
use domain::resources::{Resources, Tier};
use domain::task::{Delivery, State, TaskSpec};
use domain::time::Timestamp;
use domain::workflow::Gate;
use std::time::Duration;

/// A task to store. Everything in it has been validated.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// The tenant.
    pub tenant: TenantId,
    /// Its id, made by the caller.
    pub id: TaskId,
    /// What its owner calls it.
    pub name: Option<String>,
    /// Where it runs.
    pub pool: PoolName,
    /// `None` where resources were given instead.
    pub tier: Option<Tier>,
    /// What it needs.
    pub resources: Resources,
    /// What it runs, its retries and labels.
    pub spec: TaskSpec,
    /// Due this long after it is stored; not together with `run_at`.
    pub delay: Option<Duration>,
    /// Due at this time; not together with `delay`.
    pub run_at: Option<Timestamp>,
    /// How long after it is due it may start.
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
    /// Limit on charged attempts.
    pub max_attempts: u32,
    /// What a lost attempt means.
    pub delivery: Delivery,
    /// Unique among the tenant's tasks that have not ended.
    pub unique_key: Option<String>,
    /// W3C traceparent of the request.
    pub traceparent: Option<String>,
    /// The API key it came by.
    pub key_id: String,
    /// The fire that makes it.
    pub schedule: Option<FiredBy>,
    /// The task that it runs again.
    pub rerun_of: Option<TaskId>,
    /// The node of a workflow run that it is.
    pub node: Option<NodeTask>,
    /// The tasks that it waits for: of the same call, or stored before. Its delay counts from its release.
    pub depends_on: Option<Dependencies>,
    /// Makes repeating safe.
    pub idempotency: Option<IdempotencyKey>,
    /// What it reserves of its tenant's spend caps; set by the statement that stores it.
    pub reservation: Option<Reservation>,
}

/// What the task of a workflow's node has that others do not.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeTask {
    /// The run.
    pub run: WorkflowRunId,
    /// The node's name; of an item of `for_each`, with its place, such as `resize[3]`.
    pub node: String,
    /// What it waits for besides its parents.
    pub gate: Option<Gate>,
    /// Of an item: the task that waits for it.
    pub item_of: Option<TaskId>,
}

/// A schedule, and which of its due times a task is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiredBy {
    /// Which schedule.
    pub schedule: ScheduleId,
    /// Its name at the time of the fire; it stays with the task when the schedule is deleted.
    pub name: String,
    /// The due time of the fire. Of a trigger, when it was asked for.
    pub due_at: Timestamp,
}

/// What the database decided for a new task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Created {
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it is due.
    pub run_at: Timestamp,
    /// Until when it should start.
    pub start_deadline: Timestamp,
    /// `ready`, or `scheduled` where it is not due yet or waits for others.
    pub state: State,
    /// Whether it waits for others: then `run_at` and `start_deadline` are the earliest that they can be.
    pub waits: bool,
}

impl Created {
    /// So soon schedulers do not look by themselves at what is due: at the latest every 200 ms.
    const SOON: Duration = Duration::from_millis(400);

    /// Whether it waits for a time so near that nobody may look before it is there: then wake the schedulers
    /// (`Topic::ShardOwner`).
    #[must_use]
    pub fn is_due_soon(&self) -> bool {
        self.state == State::Scheduled && !self.waits && self.run_at < self.created_at + Self::SOON
    }
}

/// What became of one submitted task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmitAnswer {
    /// Stored.
    Created(Created),
    /// Its unique key is held by this task, which has not ended.
    Existing(TaskId),
    /// The same request made this task before.
    Replayed(TaskId),
    /// The idempotency key was used with another body.
    KeyReused,
    /// Not stored: its tenant has none of these tasks, which it names as parents.
    UnknownParents(Vec<TaskId>),
    /// Not stored: a spend cap has no room for it.
    OverCap(Box<CapRefusal>),
}

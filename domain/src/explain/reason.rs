//! Reasons of an explanation.

use crate::dependency::Condition;
use crate::id::{ExecutorId, PoolName, SpendCapName, TaskId};
use crate::price::{Currency, Micros};
use crate::resources::Dimension;
use crate::task::{AttemptOutcome, State};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What a task waits for or does. In JSON, `reason` is its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// It is not due yet.
    Due {
        /// When it is due.
        at: Timestamp,
    },
    /// It waits for other tasks.
    Parents(OpenParents),
    /// It has become tasks, one for each item of its `for_each`, and waits for them.
    Items {
        /// How many of them there are.
        items: u64,
        /// How many have not ended.
        open: u64,
    },
    /// It waits for a signal.
    Signal {
        /// The signal's key.
        key: String,
        /// Then it ends as `expired`.
        until: Option<Timestamp>,
    },
    /// It waits for a person, who approves or rejects it.
    Approval {
        /// Then it ends as `expired`.
        until: Option<Timestamp>,
    },
    /// Its turn in its workflow run has come, and a spend cap has no room for it.
    SpendCap(CapLack),
    /// An attempt failed or was lost; the next one is due at a set time.
    Retry {
        /// When it is due.
        at: Timestamp,
        /// Charged attempts that failed so far.
        failures: u32,
        /// Charged attempts that may fail, at most.
        max_attempts: u32,
        /// How the last attempt ended.
        last_outcome: Option<AttemptOutcome>,
        /// Why it ended so, for people.
        last_reason: Option<String>,
    },
    /// Its retry waits because the retry budget of its target is used up. It runs when the target recovers, at the
    /// latest at the time of `retry`.
    RetryBudget {
        /// Scheme, host and port of the target.
        target: String,
    },
    /// Its retry waits because the circuit breaker of its target is open: only probes are sent. It runs at the latest
    /// at the time of `retry`.
    BreakerOpen {
        /// Scheme, host and port of the target.
        target: String,
        /// Time of the next probe, which may be this retry.
        next_probe_at: Timestamp,
    },
    /// Its tenant is suspended.
    TenantSuspended {
        /// Since when.
        since: Option<Timestamp>,
    },
    /// Nothing of its pool is handed out.
    PoolPaused(Pause),
    /// Its pool has no executor.
    NoExecutor {
        /// The pool.
        pool: PoolName,
    },
    /// No executor of its pool has its driver.
    NoDriver {
        /// The driver.
        driver: String,
    },
    /// No executor of its pool is large enough.
    TooLarge {
        /// The first dimension that it exceeds.
        dimension: Dimension,
        /// Requested amount.
        asked: u32,
        /// Largest capacity of an executor.
        largest: u32,
    },
    /// Its concurrency key is at its limit.
    ConcurrencyKey(KeyUse),
    /// It is flexible and starts only in spare room.
    SpareRoom {
        /// From then on it is treated like other tasks.
        until: Timestamp,
    },
    /// The plan's limit of running tasks is reached.
    RunningLimit(LimitUse),
    /// Its pool has no room for it now.
    NoRoom {
        /// The scarcest dimension for it.
        dimension: Dimension,
        /// Requested amount in that dimension.
        asked: u32,
        /// Largest capacity of an executor in it.
        largest: u32,
        /// Room that it needs, in basic tasks.
        slots: u32,
        /// Free room over all executors, in basic tasks.
        free_slots: u64,
        /// There is room for smaller tasks, but no executor has enough for this one.
        for_its_size: bool,
    },
    /// Other tasks are ahead of it.
    Turn(Turn),
    /// Dispatched; a resource manager is placing it.
    Placing {
        /// If there is no room until then, it is ready again.
        until: Timestamp,
    },
    /// It runs.
    Running {
        /// Which attempt, 1 upwards.
        attempt: u32,
        /// Name of the executor.
        executor: Option<ExecutorId>,
        /// When it was placed.
        since: Timestamp,
    },
    /// It runs: its call was taken on, and it is to be completed.
    Completion {
        /// Which attempt, 1 upwards.
        attempt: u32,
        /// When it was placed.
        since: Timestamp,
        /// The end of its cap.
        until: Timestamp,
    },
    /// It runs; a stop was requested.
    Stopping {
        /// Which attempt, 1 upwards.
        attempt: u32,
        /// Name of the executor, who has to confirm.
        executor: Option<ExecutorId>,
        /// When it was placed.
        since: Timestamp,
    },
    /// It has ended.
    Ended {
        /// When.
        at: Timestamp,
        /// Exit code of its last attempt.
        exit_code: Option<i32>,
        /// Why it ended as it did, for people.
        because: Option<String>,
    },
}

impl Reason {
    /// Every name, in order.
    pub const NAMES: [&'static str; 24] = [
        "due",
        "parents",
        "items",
        "signal",
        "approval",
        "spend_cap",
        "retry",
        "retry_budget",
        "breaker_open",
        "tenant_suspended",
        "pool_paused",
        "no_executor",
        "no_driver",
        "too_large",
        "concurrency_key",
        "spare_room",
        "running_limit",
        "no_room",
        "turn",
        "placing",
        "running",
        "completion",
        "stopping",
        "ended",
    ];
}

/// Other tasks that a task waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenParents {
    /// So many more of them must end as asked.
    pub needs: u64,
    /// So many have not ended. If fewer than `needs`, the task is about to be skipped.
    pub undecided: u64,
    /// Up to 20 that have not ended, in the order of `depends_on`.
    pub waits_for: Vec<OpenParent>,
}

/// A task that has not ended and that another one waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenParent {
    /// Which task.
    pub id: TaskId,
    /// Its state.
    pub state: State,
    /// How it must end.
    pub on: Condition,
}

/// A spend cap that has no room for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapLack {
    /// The cap's name.
    pub cap: SpendCapName,
    /// Of the amounts.
    pub currency: Currency,
    /// What a period may cost, micro-units.
    pub amount: Micros,
    /// What is neither spent nor reserved, micro-units.
    pub free: Micros,
    /// The most that the task can cost, or all its items together, micro-units.
    pub needed: Micros,
    /// When the next period begins.
    pub resets_at: Timestamp,
    /// The currency in which the tenant is billed, where it is another one.
    pub billed_in: Option<Currency>,
}

impl CapLack {
    /// It cannot have room as it is, whatever ends.
    #[must_use]
    pub fn is_for_good(&self) -> bool {
        self.needed > self.amount || self.billed_in.is_some()
    }
}

/// The pause of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Since when.
    pub since: Timestamp,
    /// Reason given by the operators.
    pub because: Option<String>,
}

/// Use of a concurrency key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUse {
    /// The key.
    pub key: String,
    /// Tasks with the key that may run at once; 0: none.
    pub limit: u64,
    /// Tasks with the key that are queued, running or cancelling; counted up to 10 001.
    pub held: u64,
    /// Up to 5 of them, ordered by their latest end.
    pub holders: Vec<Holder>,
    /// Other tasks with the key are ahead of this one.
    pub others_before: bool,
}

impl KeyUse {
    /// No task with the key may start now.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.held >= self.limit
    }
}

/// A task that holds a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Which task.
    pub id: TaskId,
    /// `queued`, `running` or `cancelling`.
    pub state: State,
    /// Start of its attempt; `None` while queued.
    pub since: Option<Timestamp>,
    /// When its execution cap ends the attempt; `None` while queued.
    pub ends_by: Option<Timestamp>,
}

/// Use of the plan's limit of running tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitUse {
    /// Tasks that are queued, running or cancelling; counted up to 10 001.
    pub held: u64,
    /// Limit of the plan.
    pub limit: u64,
}

/// Position of a waiting task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Tasks of its tenant and scheduling class that are ahead of it and may start.
    pub tasks_before: u64,
    /// Whether `tasks_before` is a lower bound.
    pub at_least: bool,
    /// Its start deadline has passed, so it is in the late class.
    pub late: bool,
    /// Tasks of the other class wait too and have a share of the starts.
    pub shared: bool,
    /// Tenants ahead of its tenant. `None`: unknown, because no batcher is active or its tenant has just begun to wait.
    pub tenants_before: Option<u32>,
    /// Recent starts of its tenant per second. `None`: unknown.
    pub rate: Option<f64>,
}

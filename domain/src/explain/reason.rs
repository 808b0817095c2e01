//! What a task waits for, or does instead of waiting.

use crate::id::{PoolName, TaskId};
use crate::resources::Dimension;
use crate::task::{AttemptOutcome, State};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// One thing that a task waits for, or what it does instead. Its name in JSON is in `reason`, beside its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// Its time has not come.
    Due {
        /// When it comes.
        at: Timestamp,
    },
    /// An attempt failed or was lost; the next comes at a set time.
    Retry {
        /// When it comes.
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
    /// Its next attempt waits because its target fails and was called again often enough for now. It goes when the target
    /// answers better, and at the latest when `retry` says.
    RetryBudget {
        /// Scheme, host and port of what it calls.
        target: String,
    },
    /// Its next attempt waits because its target has failed many times in a row: until it answers, one task that waits for it is
    /// sent now and then. It goes at the latest when `retry` says.
    BreakerOpen {
        /// Scheme, host and port of what it calls.
        target: String,
        /// When the next probe is sent: a retry of this tenant to this target, perhaps of this task.
        next_probe_at: Timestamp,
    },
    /// Nothing of its tenant starts.
    TenantSuspended {
        /// Since when.
        since: Option<Timestamp>,
    },
    /// Nothing of its pool is handed out.
    PoolPaused(Pause),
    /// No executor of its pool is there.
    NoExecutor {
        /// The pool.
        pool: PoolName,
    },
    /// No executor of its pool could ever hold it.
    TooLarge {
        /// In which dimension, the first of those it exceeds.
        dimension: Dimension,
        /// What it asks for.
        asked: u32,
        /// The most that any executor of the pool has.
        largest: u32,
    },
    /// As many tasks with its concurrency key run as may.
    ConcurrencyKey(KeyUse),
    /// It is flexible and starts only where room is spare.
    SpareRoom {
        /// From then on it stands with all others.
        until: Timestamp,
    },
    /// As many tasks of its tenant run as the plan allows.
    RunningLimit(LimitUse),
    /// Its pool has no room for it now.
    NoRoom {
        /// The dimension that is shortest for it: in which it needs most of what an executor has free.
        dimension: Dimension,
        /// What it asks for in that dimension.
        asked: u32,
        /// The most that any executor of the pool has of it, free or not.
        largest: u32,
        /// Room that it takes, in basic tasks.
        slots: u32,
        /// Room that is free in the pool, over all executors, in basic tasks.
        free_slots: u64,
        /// Others find room, but no executor has enough at once for a task of this size.
        for_its_size: bool,
    },
    /// Others go before it.
    Turn(Turn),
    /// Handed to the broker; a resource manager looks for a place.
    Placing {
        /// If none is found until then, it waits for its turn again.
        until: Timestamp,
    },
    /// It runs.
    Running {
        /// Which attempt, 1 upwards.
        attempt: u32,
        /// Name of the executor.
        executor: Option<String>,
        /// When it got its place.
        since: Timestamp,
    },
    /// It runs and was asked to stop.
    Stopping {
        /// Which attempt, 1 upwards.
        attempt: u32,
        /// Name of the executor, who has to confirm.
        executor: Option<String>,
        /// When it got its place.
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
    /// Every name, in the order in which reasons are told.
    pub const NAMES: [&'static str; 17] = [
        "due",
        "retry",
        "retry_budget",
        "breaker_open",
        "tenant_suspended",
        "pool_paused",
        "no_executor",
        "too_large",
        "concurrency_key",
        "spare_room",
        "running_limit",
        "no_room",
        "turn",
        "placing",
        "running",
        "stopping",
        "ended",
    ];
}

/// Why nothing of a pool is handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Since when.
    pub since: Timestamp,
    /// What the operators say of it.
    pub because: Option<String>,
}

/// What holds a concurrency key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUse {
    /// The key.
    pub key: String,
    /// Tasks with it that may run at once; 0: none for now.
    pub limit: u64,
    /// Tasks with it that are queued, running or cancelling; counting ends at 10 001.
    pub held: u64,
    /// Up to 5 of them, those first that must end first.
    pub holders: Vec<Holder>,
    /// Others with the key wait before this task.
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
    /// Since when it runs; `None` while it is queued.
    pub since: Option<Timestamp>,
    /// When its execution cap ends its attempt at the latest; `None` while it is queued.
    pub ends_by: Option<Timestamp>,
}

/// What a tenant holds of the plan's limit on running tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitUse {
    /// Tasks that are queued, running or cancelling; counting ends at 10 001.
    pub held: u64,
    /// What the plan allows.
    pub limit: u64,
}

/// Where a task stands among those that wait for their turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Tasks of its tenant in its class that go before it. What is held up by other things than its turn does not count.
    pub tasks_before: u64,
    /// There are more: counting ended there.
    pub at_least: bool,
    /// Its start deadline has passed, so it stands in the late class.
    pub late: bool,
    /// Tasks of the other class wait too and have a part of the turns.
    pub shared: bool,
    /// Tenants whose turn comes before its tenant's. `None`: not known, because nobody hands out tasks or its tenant has
    /// just begun to wait.
    pub tenants_before: Option<u32>,
    /// Tasks of its tenant that had their turn a second, lately. `None`: not known.
    pub rate: Option<f64>,
}

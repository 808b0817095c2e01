//! A task of the store in memory.

use domain::epoch::Epoch;
use domain::resources::{Resources, Tier};
use domain::task::{
    AttemptOutcome, DriverName, LeaseKey, ResultValue, RetryPolicy, State, StoredRun,
};
use std::sync::Arc;
use std::time::Duration;

/// What the statements read and write of a task.
#[derive(Debug, Clone)]
pub(crate) struct FakeTask {
    pub state: State,
    pub dispatch_epoch: Epoch,
    pub resources: Resources,
    pub driver: Option<DriverName>,
    pub attempt: u32,
    pub failures: u32,
    pub max_attempts: u32,
    pub at_most_once: bool,
    pub run: StoredRun,
    pub retry: Option<RetryPolicy>,
    /// What its last end wrote: how long it waits, and for what.
    pub wait: Duration,
    pub held_for: Option<Arc<str>>,
    pub lease: Option<LeaseKey>,
    pub assignment: u64,
    pub port_first: u32,
    /// Its attempts that are over.
    pub ends: Vec<(LeaseKey, AttemptOutcome)>,
    /// What was stored of what it returned.
    pub values: Vec<ResultValue>,
}

impl FakeTask {
    /// A task that was dispatched and asks for a basic executor.
    pub(crate) fn queued() -> Self {
        Self {
            state: State::Queued,
            dispatch_epoch: Epoch(1),
            resources: Tier::Basic.resources(),
            driver: "noop".parse().ok(),
            attempt: 0,
            failures: 0,
            max_attempts: 3,
            at_most_once: false,
            run: StoredRun::read(r#"{"noop":{}}"#.to_owned()),
            retry: None,
            wait: Duration::ZERO,
            held_for: None,
            lease: None,
            assignment: 0,
            port_first: 0,
            ends: Vec::new(),
            values: Vec::new(),
        }
    }

    /// One of this driver.
    pub(crate) fn driven_by(driver: &str) -> Self {
        Self { driver: driver.parse().ok(), ..Self::queued() }
    }

    pub(crate) fn of(tier: Tier) -> Self {
        Self { resources: tier.resources(), ..Self::queued() }
    }
}

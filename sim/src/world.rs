//! The simulated world: tenants, tasks with arrivals, executors.

use domain::batch::Priority;
use domain::resources::{Resources, Tier};
use domain::time::Timestamp;
use std::time::Duration;

/// Room for basic tasks on one executor, unless a scenario says otherwise.
pub const EXECUTOR_SLOTS: usize = 4;

/// A whole scenario, drawn.
#[derive(Debug)]
pub struct World {
    pub tenants: Vec<Tenant>,
    /// By arrival.
    pub tasks: Vec<Task>,
    /// Capacities.
    pub executors: Vec<Resources>,
    /// When it ends; `None`: when all tasks have.
    pub until: Option<Timestamp>,
}

/// A customer.
#[derive(Debug, Clone, Copy)]
pub struct Tenant {
    /// Group in the report.
    pub group: &'static str,
    pub weight: f64,
}

/// A task.
#[derive(Debug, Clone)]
pub struct Task {
    /// Index in [`World::tenants`].
    pub tenant: usize,
    pub arrival: Timestamp,
    pub tolerance: Duration,
    /// What is declared.
    pub cap: Duration,
    /// Actual run time, hidden from policies until its end.
    pub run: Duration,
    pub resources: Resources,
    pub priority: Priority,
}

impl Task {
    pub fn deadline(&self) -> Timestamp {
        self.arrival + self.tolerance
    }
}

impl World {
    /// All executors together.
    pub fn capacity(&self) -> Resources {
        let sum = |all: Resources, one: &Resources| all.checked_add(*one).unwrap_or(all);
        self.executors.iter().fold(Resources::default(), sum)
    }
}

/// An executor with `slots` slots.
pub fn executor(slots: usize) -> Resources {
    let slots = u32::try_from(slots).unwrap_or(u32::MAX);
    let basic = Tier::Basic.resources().dimensions();
    Resources::from_dimensions(basic.map(|unit| unit.saturating_mul(slots)))
}

/// A time `seconds` after the start, to the microsecond.
pub fn at(seconds: f64) -> Timestamp {
    Timestamp::UNIX_EPOCH + chrono::TimeDelta::microseconds((seconds * 1e6) as i64)
}

/// `seconds` seconds, to the microsecond.
pub fn seconds(seconds: f64) -> Duration {
    Duration::from_micros((seconds * 1e6) as u64)
}

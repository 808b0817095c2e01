//! Scheduling policies: Berth's and others for comparison.

mod berth;
mod eevdf;
mod simple;

use crate::world::World;
use domain::time::Timestamp;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A scheduling policy. Tasks are indices into the world.
pub trait Policy {
    /// A task arrives.
    fn arrived(&mut self, now: Timestamp, task: usize);
    /// Picks tasks for about `slots` slots, in order. Each is then either placed or returned.
    fn pick(&mut self, now: Timestamp, slots: u64) -> Vec<usize>;
    /// A task was placed.
    fn placed(&mut self, _now: Timestamp, _task: usize) {}
    /// A task found no room and waits again.
    fn came_back(&mut self, now: Timestamp, task: usize);
    /// A task ended.
    fn ended(&mut self, _task: usize, _used: Duration) {}
}

/// Names of policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// The batcher's order.
    Berth,
    /// By arrival.
    Fifo,
    /// By priority, then by arrival. A task without a priority has that of its tenant's weight.
    Priority,
    /// Earliest deadline first, over all tenants.
    Edf,
    /// Round robin over tenants; within one by arrival.
    RoundRobin,
    /// Earliest eligible virtual deadline first over the tenants; inside one by deadline.
    Eevdf,
}

impl PolicyName {
    /// Every policy, Berth's first.
    pub const ALL: [Self; 6] =
        [Self::Berth, Self::Fifo, Self::Priority, Self::Edf, Self::RoundRobin, Self::Eevdf];

    /// Its name on the command line and in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Berth => "berth",
            Self::Fifo => "fifo",
            Self::Priority => "priority",
            Self::Edf => "edf",
            Self::RoundRobin => "round-robin",
            Self::Eevdf => "eevdf",
        }
    }

    pub(crate) fn start(self, world: &World) -> Box<dyn Policy + '_> {
        match self {
            Self::Berth => Box::new(berth::Berth::new(world)),
            Self::Fifo => Box::new(simple::Sorted::new(world, |_, _| 0)),
            Self::Priority => Box::new(simple::Sorted::new(world, |world, task| {
                let task = &world.tasks[task];
                let weight = (world.tenants[task.tenant].weight * 1000.0) as i64;
                -(i64::from(task.priority.level()) * 1_000_000 + weight)
            })),
            Self::Edf => Box::new(simple::Sorted::new(world, |world, task| {
                world.tasks[task].deadline().timestamp_micros()
            })),
            Self::RoundRobin => Box::new(simple::RoundRobin::new(world)),
            Self::Eevdf => Box::new(eevdf::Eevdf::new(world)),
        }
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|name| name.as_str() == text)
            .ok_or_else(|| format!("expected one of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

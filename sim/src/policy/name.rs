//! The policies by name, and how each is made.

use super::interface::Policy;
use super::{berth, eevdf, simple};
use crate::world::World;
use serde::Serialize;
use std::str::FromStr;

/// The policies that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// What the batcher does.
    Berth,
    /// By arrival.
    Fifo,
    /// By priority, then by arrival. A task without a priority has that of its tenant's weight.
    Priority,
    /// Earliest deadline first, over all tenants.
    Edf,
    /// The tenants in turn, a task each; inside one by arrival.
    RoundRobin,
    /// Earliest eligible virtual deadline first over the tenants; inside one by deadline.
    Eevdf,
}

impl PolicyName {
    /// Every policy, our own first.
    pub const ALL: [Self; 6] =
        [Self::Berth, Self::Fifo, Self::Priority, Self::Edf, Self::RoundRobin, Self::Eevdf];

    /// Its name on the command line and in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
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

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|name| name.as_str() == text)
            .ok_or_else(|| format!("expected one of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

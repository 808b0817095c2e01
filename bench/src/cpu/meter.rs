//! Adds up what named processes used between two readings.

use super::process::{Machine, Processes, TICKS_PER_SECOND};
use runtime::clock::{self, Instant};
use serde::Serialize;
use std::collections::BTreeMap;

/// The processes of a phase, by the name they are shown under. Several may share a name.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    watched: Vec<(&'static str, u32)>,
}

/// What each name has used so far.
#[derive(Debug, Clone)]
pub struct Reading {
    at: Instant,
    ticks: BTreeMap<&'static str, u64>,
    machine: Machine,
}

/// What a phase used.
#[derive(Debug, Clone, Serialize)]
pub struct Cpu {
    /// Microseconds an item, by process.
    pub us_per_item: BTreeMap<&'static str, f64>,
    /// Cores kept busy by those processes, on average.
    pub busy_cores: f64,
    /// Busy cores of everything else: kernel threads and disturbances.
    pub other_cores: f64,
    /// Steal: cores that the host gave to other machines. Such a figure is of a slower machine.
    pub stolen_cores: f64,
}

impl Meter {
    /// Watches a process and its children under a name.
    pub fn watch(&mut self, name: &'static str, pid: u32) {
        self.watched.push((name, pid));
    }

    /// Reads the counters. This program counts as `bench`, without its children.
    pub fn read(&self) -> Reading {
        let processes = Processes::now();
        let mut ticks = BTreeMap::from([("bench", processes.alone(std::process::id()))]);
        for (name, pid) in &self.watched {
            *ticks.entry(*name).or_default() += processes.tree(*pid);
        }
        Reading { at: clock::monotonic(), ticks, machine: Machine::now() }
    }

    /// What was used since `before`, for `items` things done. A process that was not there before counts from zero.
    pub fn since(&self, before: &Reading, items: u64) -> Cpu {
        let now = self.read();
        let elapsed = (now.at - before.at).as_secs_f64().max(1e-3);
        let used = |name: &'static str, ticks: u64| {
            ticks.saturating_sub(before.ticks.get(name).copied().unwrap_or(0))
        };
        let total: u64 = now.ticks.iter().map(|(name, ticks)| used(name, *ticks)).sum();
        let busy = now.machine.busy.saturating_sub(before.machine.busy);
        let stolen = now.machine.stolen.saturating_sub(before.machine.stolen);
        let cores = |ticks: u64| ticks as f64 / TICKS_PER_SECOND / elapsed;
        let us = |ticks: u64| ticks as f64 / TICKS_PER_SECOND * 1e6 / items.max(1) as f64;
        Cpu {
            us_per_item: now
                .ticks
                .iter()
                .map(|(name, ticks)| (*name, us(used(name, *ticks))))
                .collect(),
            busy_cores: cores(total),
            other_cores: cores(busy.saturating_sub(total)),
            stolen_cores: cores(stolen),
        }
    }
}

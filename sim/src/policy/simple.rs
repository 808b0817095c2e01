//! Simple policies: one order over all tasks, or round robin over tenants.

use super::interface::Policy;
use crate::world::World;
use domain::time::Timestamp;
use std::collections::{BTreeSet, VecDeque};

/// All tasks in one order; ties by arrival.
pub struct Sorted<'a> {
    world: &'a World,
    key: fn(&World, usize) -> i64,
    waiting: BTreeSet<(i64, usize)>,
}

impl<'a> Sorted<'a> {
    pub const fn new(world: &'a World, key: fn(&World, usize) -> i64) -> Self {
        Self { world, key, waiting: BTreeSet::new() }
    }
}

impl Policy for Sorted<'_> {
    fn arrived(&mut self, _now: Timestamp, task: usize) {
        self.waiting.insert(((self.key)(self.world, task), task));
    }

    fn pick(&mut self, _now: Timestamp, slots: u64) -> Vec<usize> {
        let pop = || self.waiting.pop_first().map(|(_, task)| task);
        fill(self.world, slots, pop)
    }

    fn came_back(&mut self, now: Timestamp, task: usize) {
        self.arrived(now, task);
    }
}

/// Round robin over tenants with tasks.
pub struct RoundRobin<'a> {
    world: &'a World,
    queues: Vec<BTreeSet<usize>>,
    turns: VecDeque<usize>,
}

impl<'a> RoundRobin<'a> {
    pub fn new(world: &'a World) -> Self {
        Self { world, queues: vec![BTreeSet::new(); world.tenants.len()], turns: VecDeque::new() }
    }
}

impl Policy for RoundRobin<'_> {
    fn arrived(&mut self, _now: Timestamp, task: usize) {
        let tenant = self.world.tasks[task].tenant;
        if self.queues[tenant].is_empty() {
            self.turns.push_back(tenant);
        }
        self.queues[tenant].insert(task);
    }

    fn pick(&mut self, _now: Timestamp, slots: u64) -> Vec<usize> {
        let (queues, turns) = (&mut self.queues, &mut self.turns);
        fill(self.world, slots, || {
            let tenant = turns.pop_front()?;
            let task = queues[tenant].pop_first();
            if !queues[tenant].is_empty() {
                turns.push_back(tenant);
            }
            task
        })
    }

    fn came_back(&mut self, now: Timestamp, task: usize) {
        self.arrived(now, task);
    }
}

/// Picks tasks until `slots` are used up.
fn fill(world: &World, slots: u64, mut pop: impl FnMut() -> Option<usize>) -> Vec<usize> {
    let (mut left, mut picked) = (slots, Vec::new());
    while left > 0 {
        let Some(task) = pop() else { break };
        left = left.saturating_sub(u64::from(world.tasks[task].resources.slots()));
        picked.push(task);
    }
    picked
}

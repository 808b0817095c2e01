//! The event loop: arrivals and ends, and a pick after each.

use crate::measure::Measure;
use crate::policy::Policy;
use crate::world::World;
use domain::placement::{Node, choose};
use domain::resources::{Resources, Tier};
use domain::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Runs `world` under `policy`; `progress` gets the number of ended tasks.
pub fn run<'a>(
    world: &'a World,
    policy: &mut dyn Policy,
    progress: &mut dyn FnMut(usize),
) -> Measure<'a> {
    let mut fleet = Fleet::new(&world.executors);
    let mut measure = Measure::new(world);
    let mut ends: BinaryHeap<Reverse<(Timestamp, usize, usize)>> = BinaryHeap::new();
    let (mut arrived, mut ended) = (0, 0);
    loop {
        let arrival = world.tasks.get(arrived).map(|task| task.arrival);
        let end = ends.peek().map(|Reverse((at, _, _))| *at);
        let Some(now) = [arrival, end].into_iter().flatten().min() else { break };
        if world.until.is_some_and(|until| now >= until) {
            break;
        }
        measure.advance(now);
        while let Some(Reverse((_, task, node))) = ends.peek().copied().filter(|e| e.0.0 == now) {
            ends.pop();
            fleet.give_back(node, world.tasks[task].resources);
            measure.ended(now, task);
            policy.ended(task, world.tasks[task].run);
            ended += 1;
        }
        while world.tasks.get(arrived).is_some_and(|task| task.arrival == now) {
            measure.arrived(arrived);
            policy.arrived(now, arrived);
            arrived += 1;
        }
        let picked = policy.pick(now, fleet.free_slots);
        for task in picked {
            match fleet.place(world.tasks[task].resources) {
                Some(node) => {
                    ends.push(Reverse((now + world.tasks[task].run, task, node)));
                    measure.started(now, task);
                    policy.placed(now, task);
                }
                None => policy.came_back(now, task),
            }
        }
        progress(ended);
    }
    measure.finish(world.until);
    measure
}

/// The executors and their room.
struct Fleet {
    nodes: Vec<Node>,
    /// Executors by free room in basic tasks.
    free_slots: u64,
}

impl Fleet {
    fn new(executors: &[Resources]) -> Self {
        let node = |capacity: &Resources| Node {
            capacity: *capacity,
            free: *capacity,
            port_block: capacity.ports,
            accepting: true,
        };
        let free_slots = executors.iter().map(|capacity| slots(*capacity)).sum();
        Self { nodes: executors.iter().map(node).collect(), free_slots }
    }

    fn place(&mut self, size: Resources) -> Option<usize> {
        let at = choose(size, &self.nodes, |_| true)?;
        self.set_free(at, self.nodes[at].free.saturating_sub(size));
        Some(at)
    }

    fn give_back(&mut self, at: usize, size: Resources) {
        let free = self.nodes[at].free;
        self.set_free(at, free.checked_add(size).unwrap_or(free));
    }

    fn set_free(&mut self, at: usize, free: Resources) {
        let node = &mut self.nodes[at];
        self.free_slots = self.free_slots + slots(free) - slots(node.free);
        (node.free, node.port_block) = (free, free.ports);
        // Full executors are skipped.
        node.accepting = slots(free) > 0;
    }
}

fn slots(free: Resources) -> u64 {
    let basic = Tier::Basic.resources().dimensions();
    let units = free.dimensions().into_iter().zip(basic).map(|(have, unit)| have / unit);
    u64::from(units.max().unwrap_or(0))
}

//! The batcher's own order: [`Turns`], fed as the batcher feeds it.

use super::Policy;
use crate::world::World;
use domain::batch::{Candidate, Pick, Running, Turns};
use domain::fairness::NameKey;
use domain::id::{TaskId, TenantId};
use domain::resources::Resources;
use domain::time::Timestamp;
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

pub struct Berth<'a> {
    world: &'a World,
    capacity: Resources,
    turns: Turns,
    /// Without limits.
    running: Running,
    /// Picked, and neither placed nor come back.
    picked: HashMap<usize, Pick>,
}

impl<'a> Berth<'a> {
    pub fn new(world: &'a World) -> Self {
        let weights = world.tenants.iter().enumerate();
        let mut turns = Turns::default();
        turns.set_weights(weights.map(|(number, tenant)| (tenant_id(number), tenant.weight)));
        let capacity = world.capacity();
        Self { world, capacity, turns, running: Running::default(), picked: HashMap::new() }
    }

    fn candidate(&self, number: usize) -> Candidate {
        let task = &self.world.tasks[number];
        Candidate {
            tenant: tenant_id(task.tenant),
            task: task_id(number),
            due: task.arrival,
            start_deadline: task.deadline(),
            priority: task.priority,
            slots: task.resources.slots(),
            share: task.resources.dominant_share(self.capacity),
            name: NameKey::default(),
            prepaid: false,
            cap: task.cap,
            concurrency_key: None,
            spare_until: None,
        }
    }
}

impl Policy for Berth<'_> {
    fn arrived(&mut self, now: Timestamp, task: usize) {
        self.turns.advance(now);
        self.turns.offer(now, self.candidate(task));
    }

    fn pick(&mut self, now: Timestamp, slots: u64) -> Vec<usize> {
        let picks = self.turns.pick(now, slots, &mut self.running);
        let number = |pick: &Pick| pick.candidate.task.0.as_u128() as usize;
        let numbers = picks.iter().map(number).collect();
        self.picked.extend(picks.into_iter().map(|pick| (number(&pick), pick)));
        numbers
    }

    fn placed(&mut self, now: Timestamp, task: usize) {
        if let Some(pick) = self.picked.remove(&task) {
            self.turns.dispatched(now, &pick);
        }
    }

    fn came_back(&mut self, now: Timestamp, task: usize) {
        if let Some(pick) = self.picked.remove(&task) {
            self.turns.undo(&pick);
            self.running.undone(&pick.candidate);
            self.turns.offer(now, pick.candidate);
        }
    }

    fn ended(&mut self, task: usize, used: Duration) {
        self.turns.ended(task_id(task), used);
    }
}

const fn tenant_id(number: usize) -> TenantId {
    TenantId(Uuid::from_u128(number as u128))
}

const fn task_id(number: usize) -> TaskId {
    TaskId(Uuid::from_u128(number as u128))
}

//! The batcher's order: [`Turns`], with the first tasks of each strand only, as in the batcher.

use super::interface::Policy;
use crate::world::World;
use domain::batch::{Candidate, Conditions, Pick, Running, Strand, Turns, Window};
use domain::fairness::NameKey;
use domain::id::{TaskId, TenantId};
use domain::resources::Resources;
use domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use uuid::Uuid;

/// Tasks of a strand that are offered, late and on time each; about as many as the batcher reads.
const WINDOW: usize = 32;

/// A strand, by start deadline.
type Tasks = BTreeMap<(Timestamp, TaskId), Candidate>;

pub struct Berth<'a> {
    world: &'a World,
    capacity: Resources,
    turns: Turns,
    /// Without limits.
    running: Running,
    /// Picked, and neither placed nor returned.
    picked: HashMap<usize, Pick>,
    /// Waiting tasks by tenant and strand.
    waiting: Vec<HashMap<Strand, Tasks>>,
    /// Tenants that have changed since the last offer.
    changed: BTreeSet<usize>,
}

impl<'a> Berth<'a> {
    pub fn new(world: &'a World) -> Self {
        let weights = world.tenants.iter().enumerate();
        let mut turns = Turns::default();
        turns.set_weights(weights.map(|(number, tenant)| (tenant_id(number), tenant.weight)));
        Self {
            world,
            capacity: world.capacity(),
            turns,
            running: Running::default(),
            picked: HashMap::new(),
            waiting: vec![HashMap::new(); world.tenants.len()],
            changed: BTreeSet::new(),
        }
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

    fn wait(&mut self, number: usize) {
        let candidate = self.candidate(number);
        let tenant = self.world.tasks[number].tenant;
        let strand = self.strand(number);
        let strand = self.waiting[tenant].entry(strand).or_default();
        strand.insert((candidate.start_deadline, candidate.task), candidate);
        self.changed.insert(tenant);
    }

    fn strand(&self, number: usize) -> Strand {
        let task = &self.world.tasks[number];
        Strand::of(Conditions {
            resources: task.resources,
            priority: task.priority,
            flexible: false,
            expire_if_late: false,
            tolerance: task.tolerance,
            key: None,
            driver: None,
        })
    }

    /// Offers the first tasks of changed tenants and of those that are next.
    fn offer_next(&mut self, now: Timestamp, slots: u64) {
        let next = self.turns.next().take(usize::try_from(slots).unwrap_or(usize::MAX));
        self.changed.extend(next.map(|tenant| tenant.0.as_u128() as usize));
        for tenant in std::mem::take(&mut self.changed) {
            let strands = &mut self.waiting[tenant];
            strands.retain(|_, tasks| !tasks.is_empty());
            let windows = strands.values().map(|tasks| window(now, tasks)).collect();
            self.turns.see(now, tenant_id(tenant), windows, false);
        }
    }
}

fn window(now: Timestamp, tasks: &Tasks) -> Window {
    let on_time = (now, task_id(0));
    let first = |range: &mut dyn Iterator<Item = &Candidate>| -> Vec<Candidate> {
        range.take(WINDOW).cloned().collect()
    };
    let mut first_tasks = first(&mut tasks.range(..on_time).map(|(_, task)| task));
    let late = first_tasks.len();
    first_tasks.extend(first(&mut tasks.range(on_time..).map(|(_, task)| task)));
    let (more_late, more_on_time) = (late == WINDOW, first_tasks.len() - late == WINDOW);
    Window { key: None, tasks: first_tasks, more_late, more_on_time }
}

impl Policy for Berth<'_> {
    fn arrived(&mut self, now: Timestamp, task: usize) {
        self.turns.advance(now);
        self.wait(task);
    }

    fn pick(&mut self, now: Timestamp, slots: u64) -> Vec<usize> {
        let (mut numbers, mut left) = (Vec::new(), slots);
        // If more tasks wait than were offered, the batcher reads again at once.
        loop {
            self.offer_next(now, left);
            let picks = self.turns.pick(now, left, &mut self.running);
            let none = picks.is_empty();
            for pick in picks {
                let Candidate { start_deadline, task, slots, .. } = pick.candidate;
                let number = task.0.as_u128() as usize;
                let (tenant, strand) = (self.world.tasks[number].tenant, self.strand(number));
                if let Some(tasks) = self.waiting[tenant].get_mut(&strand) {
                    tasks.remove(&(start_deadline, task));
                }
                self.changed.insert(tenant);
                left = left.saturating_sub(slots.into());
                numbers.push(number);
                self.picked.insert(number, pick);
            }
            if none || left == 0 || !self.turns.was_passed_over() {
                return numbers;
            }
        }
    }

    fn placed(&mut self, now: Timestamp, task: usize) {
        if let Some(pick) = self.picked.remove(&task) {
            self.turns.dispatched(now, &pick);
        }
    }

    fn came_back(&mut self, _now: Timestamp, task: usize) {
        if let Some(pick) = self.picked.remove(&task) {
            self.turns.undo(&pick);
            self.running.undone(&pick.candidate);
            self.wait(task);
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

//! Earliest eligible virtual deadline first, over tenants (Stoica, Abdel-Wahab 1995); inside one by start deadline.
//!
//! For comparison. A request is one task with the average run time of its tenant's tasks, at first the smaller of cap
//! and 1 s; its charge is corrected at its end. Many tasks run at once, so virtual time advances by charges over the
//! weights of waiting tenants, because the capacity of the paper's server is unknown here.

use super::interface::Policy;
use crate::world::World;
use domain::time::Timestamp;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// Weight of a new run time in the average.
const NEWEST_PART: f64 = 0.2;
const UNKNOWN_S: f64 = 1.0;

pub struct Eevdf<'a> {
    world: &'a World,
    clients: Vec<Client>,
    /// Waiting tenants ahead of their share, by when they become eligible.
    ahead: BTreeSet<(Ticks, usize)>,
    /// Eligible waiting tenants, by virtual deadline.
    eligible: BTreeSet<(Ticks, usize)>,
    /// Sum over waiting tenants.
    weights: f64,
    virtual_time: f64,
    /// Charges of running tasks, in share-seconds.
    charged: HashMap<usize, f64>,
    /// Dominant share of each task.
    share: Vec<f64>,
}

/// Virtual time in parts of 10⁻⁹, which have an order.
type Ticks = i64;

#[derive(Default)]
struct Client {
    waiting: BTreeSet<(Timestamp, usize)>,
    /// When its next request may be served, in virtual time.
    eligible_at: f64,
    average_s: Option<f64>,
    /// Its places in `ahead` and in `eligible`.
    places: Option<(Ticks, Ticks)>,
}

impl<'a> Eevdf<'a> {
    pub fn new(world: &'a World) -> Self {
        let capacity = world.capacity();
        let share = world.tasks.iter().map(|task| task.resources.dominant_share(capacity));
        Self {
            world,
            clients: world.tenants.iter().map(|_| Client::default()).collect(),
            ahead: BTreeSet::new(),
            eligible: BTreeSet::new(),
            weights: 0.0,
            virtual_time: 0.0,
            charged: HashMap::new(),
            share: share.collect(),
        }
    }

    fn weight(&self, tenant: usize) -> f64 {
        self.world.tenants[tenant].weight
    }

    /// Estimated cost of a task, in share-seconds.
    fn request(&self, tenant: usize, task: usize) -> f64 {
        let unknown = self.world.tasks[task].cap.as_secs_f64().min(UNKNOWN_S);
        self.share[task] * self.clients[tenant].average_s.unwrap_or(unknown)
    }

    /// Sorts a tenant again after a change.
    fn sort(&mut self, tenant: usize) {
        if let Some((at, deadline)) = self.clients[tenant].places.take() {
            self.ahead.remove(&(at, tenant));
            self.eligible.remove(&(deadline, tenant));
            self.weights -= self.weight(tenant);
        }
        let Some((_, task)) = self.clients[tenant].waiting.first().copied() else { return };
        let at = self.clients[tenant].eligible_at;
        let deadline = at + self.request(tenant, task) / self.weight(tenant);
        self.ahead.insert((ticks(at), tenant));
        self.weights += self.weight(tenant);
        self.clients[tenant].places = Some((ticks(at), ticks(deadline)));
    }

    /// The eligible tenant with the earliest virtual deadline; without one, the tenant least ahead.
    fn next(&mut self) -> Option<usize> {
        let mut now = ticks(self.virtual_time);
        if self.eligible.is_empty() {
            now = now.max(self.ahead.first()?.0);
        }
        while let Some((_, tenant)) = self.ahead.first().copied().filter(|(at, _)| *at <= now) {
            self.ahead.pop_first();
            if let Some((_, deadline)) = self.clients[tenant].places {
                self.eligible.insert((deadline, tenant));
            }
        }
        self.eligible.first().map(|(_, tenant)| *tenant)
    }

    fn wait(&mut self, task: usize) {
        let tenant = self.world.tasks[task].tenant;
        let virtual_time = self.virtual_time;
        let client = &mut self.clients[tenant];
        if client.waiting.is_empty() {
            // It joins without lag, but keeps its debt.
            client.eligible_at = client.eligible_at.max(virtual_time);
        }
        client.waiting.insert((self.world.tasks[task].deadline(), task));
        self.sort(tenant);
    }

    fn charge(&mut self, tenant: usize, amount: f64) {
        if self.weights > 0.0 {
            self.virtual_time += amount / self.weights;
        }
        self.clients[tenant].eligible_at += amount / self.weight(tenant);
        self.sort(tenant);
    }
}

impl Policy for Eevdf<'_> {
    fn arrived(&mut self, _now: Timestamp, task: usize) {
        self.wait(task);
    }

    fn pick(&mut self, _now: Timestamp, slots: u64) -> Vec<usize> {
        let (mut left, mut picked) = (slots, Vec::new());
        while left > 0 {
            let Some(tenant) = self.next() else { break };
            let Some((_, task)) = self.clients[tenant].waiting.pop_first() else { break };
            let request = self.request(tenant, task);
            self.charged.insert(task, request);
            self.charge(tenant, request);
            left = left.saturating_sub(u64::from(self.world.tasks[task].resources.slots()));
            picked.push(task);
        }
        picked
    }

    fn came_back(&mut self, _now: Timestamp, task: usize) {
        let tenant = self.world.tasks[task].tenant;
        if let Some(charge) = self.charged.remove(&task) {
            self.charge(tenant, -charge);
        }
        self.wait(task);
    }

    fn ended(&mut self, task: usize, used: Duration) {
        let tenant = self.world.tasks[task].tenant;
        let used = used.as_secs_f64();
        let average = &mut self.clients[tenant].average_s;
        *average = Some(average.map_or(used, |before| before + NEWEST_PART * (used - before)));
        if let Some(charge) = self.charged.remove(&task) {
            self.charge(tenant, self.share[task] * used - charge);
        }
    }
}

fn ticks(virtual_time: f64) -> Ticks {
    (virtual_time * 1e9) as Ticks
}

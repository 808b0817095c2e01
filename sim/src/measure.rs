//! Measurements of a run: waits, misses, shares, utilisation.
//!
//! Shares are compared in windows of ten seconds, in each only between tenants that had waiting tasks all the time.

use crate::world::World;
use chrono::TimeDelta;
use domain::resources::Resources;
use domain::time::Timestamp;
use std::collections::BTreeMap;

const WINDOW: TimeDelta = TimeDelta::seconds(10);

/// State of the measurement during a run.
pub struct Measure<'a> {
    world: &'a World,
    shares: Vec<f64>,
    pub starts: Vec<Option<Timestamp>>,
    /// Running tasks, and until when they are counted.
    running: BTreeMap<usize, Timestamp>,
    waiting: Vec<u32>,
    /// Tenants without waiting tasks at some time of this window.
    rested: Vec<bool>,
    /// In this window, in share-seconds.
    served: Vec<f64>,
    /// In total.
    pub service: Vec<f64>,
    window_end: Timestamp,
    pub now: Timestamp,
    pub windows: Vec<Window>,
}

/// Result of one window.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Jain's index of service by weight: 1 is even.
    pub jain: f64,
    /// Largest relative deviation of a tenant from its fair share.
    pub error: f64,
}

impl<'a> Measure<'a> {
    pub fn new(world: &'a World) -> Self {
        let (tenants, tasks) = (world.tenants.len(), world.tasks.len());
        let capacity = world.capacity();
        let share = |demand: Resources| demand.dominant_share(capacity);
        Self {
            world,
            shares: world.tasks.iter().map(|task| share(task.resources)).collect(),
            starts: vec![None; tasks],
            running: BTreeMap::new(),
            waiting: vec![0; tenants],
            rested: vec![true; tenants],
            served: vec![0.0; tenants],
            service: vec![0.0; tenants],
            window_end: Timestamp::UNIX_EPOCH + WINDOW,
            now: Timestamp::UNIX_EPOCH,
            windows: Vec::new(),
        }
    }

    /// Advances the time without an event.
    pub fn advance(&mut self, now: Timestamp) {
        while self.window_end <= now {
            self.now = self.window_end;
            self.close_window();
            self.window_end += WINDOW;
        }
        self.now = now;
    }

    pub fn arrived(&mut self, task: usize) {
        let tenant = self.world.tasks[task].tenant;
        // At time zero all arrivals count as present from the start.
        self.rested[tenant] &= self.now != Timestamp::UNIX_EPOCH;
        self.waiting[tenant] += 1;
    }

    pub fn started(&mut self, now: Timestamp, task: usize) {
        let tenant = self.world.tasks[task].tenant;
        self.waiting[tenant] -= 1;
        self.rested[tenant] |= self.waiting[tenant] == 0;
        self.starts[task] = Some(now);
        self.running.insert(task, now);
    }

    pub fn ended(&mut self, now: Timestamp, task: usize) {
        if let Some(since) = self.running.remove(&task) {
            self.serve(task, since, now);
        }
    }

    pub fn finish(&mut self, until: Option<Timestamp>) {
        if let Some(until) = until {
            self.advance(until);
        }
        self.count(self.now);
        self.settle_service();
    }

    /// Counts running tasks up to `until`.
    fn count(&mut self, until: Timestamp) {
        let mut running = std::mem::take(&mut self.running);
        for (task, since) in &mut running {
            self.serve(*task, *since, until);
            *since = until;
        }
        self.running = running;
    }

    fn serve(&mut self, task: usize, since: Timestamp, until: Timestamp) {
        let served = self.shares[task] * (until - since).as_seconds_f64();
        self.served[self.world.tasks[task].tenant] += served;
    }

    fn close_window(&mut self) {
        self.count(self.window_end);
        let backlogged: Vec<usize> =
            (0..self.waiting.len()).filter(|tenant| !self.rested[*tenant]).collect();
        if backlogged.len() > 1 {
            let weight = |tenant: &usize| self.world.tenants[*tenant].weight;
            let by_weight = backlogged.iter().map(|tenant| self.served[*tenant] / weight(tenant));
            let fair = backlogged.iter().map(|tenant| self.served[*tenant]).sum::<f64>()
                / backlogged.iter().map(weight).sum::<f64>();
            let error = by_weight.clone().map(|got| (got / fair - 1.0).abs()).fold(0.0, f64::max);
            self.windows.push(Window { jain: jain(by_weight), error });
        }
        self.settle_service();
        for (rested, waiting) in self.rested.iter_mut().zip(&self.waiting) {
            *rested = *waiting == 0;
        }
    }

    fn settle_service(&mut self) {
        for (all, served) in self.service.iter_mut().zip(&mut self.served) {
            *all += std::mem::take(served);
        }
    }
}

/// (Σx)² / (n Σx²): from 1/n, if one has all, to 1.
fn jain(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let sum: f64 = values.clone().sum();
    let squares: f64 = values.clone().map(|x| x * x).sum();
    if squares > 0.0 { sum * sum / (values.count() as f64 * squares) } else { 1.0 }
}

//! Scenarios with arrivals over time.

use super::sizes::Drawn;
use crate::random::Random;
use crate::world::{EXECUTOR_SLOTS, Task, Tenant, World, at, executor, seconds};
use domain::batch::Priority;
use domain::resources::Tier;

/// Delay tolerances, equally likely.
const TOLERANCES_S: [f64; 4] = [0.5, 2.0, 10.0, 60.0];

pub fn poisson(sizes: Drawn, random: &mut Random) -> World {
    let runs: Vec<f64> = (0..sizes.tasks).map(|_| run_time(random)).collect();
    evenly(sizes, random, runs)
}

pub fn gold_bronze(sizes: Drawn, random: &mut Random) -> World {
    let mut world = poisson(sizes, random);
    for (number, tenant) in world.tenants.iter_mut().enumerate() {
        let (group, weight) = if number % 2 == 0 { ("gold", 3.0) } else { ("bronze", 1.0) };
        *tenant = Tenant { group, weight };
    }
    world
}

pub fn priority(sizes: Drawn, random: &mut Random) -> World {
    let mut world = poisson(sizes, random);
    for task in world.tasks.iter_mut().step_by(10) {
        task.priority = Priority::new(5).unwrap_or_default();
    }
    world
}

pub fn bursts(sizes: Drawn, random: &mut Random) -> World {
    const BURST: usize = 200;
    let runs: Vec<f64> = (0..sizes.tasks).map(|_| run_time(random)).collect();
    let mut clock = 0.0;
    let mut tasks = Vec::with_capacity(runs.len());
    for burst in runs.chunks(BURST) {
        let tenant = random.below(sizes.tenants);
        tasks.extend(burst.iter().map(|run| Task { tenant, ..task(random, sizes, clock, *run) }));
        clock += random.exponential(sum(burst) / offered(sizes));
    }
    world(sizes, tasks)
}

pub fn heavy_tail(sizes: Drawn, random: &mut Random) -> World {
    let runs: Vec<f64> = (0..sizes.tasks).map(|_| random.pareto(0.05, 1.1).min(600.0)).collect();
    evenly(sizes, random, runs)
}

pub fn herd(sizes: Drawn, random: &mut Random) -> World {
    let runs: Vec<f64> = (0..sizes.tasks).map(|_| run_time(random)).collect();
    let minutes = (sum(&runs) / offered(sizes) / 60.0).ceil();
    let tasks = runs.into_iter().enumerate().map(|(number, run)| {
        let minute = random.uniform(0.0, minutes).floor() * 60.0;
        let within = random.uniform(0.0, if number % 2 == 0 { 1.0 } else { 60.0 });
        task(random, sizes, minute + within, run)
    });
    world(sizes, tasks.collect())
}

/// Tasks of these run times that arrive as a Poisson process.
fn evenly(sizes: Drawn, random: &mut Random, runs: Vec<f64>) -> World {
    let gap = sum(&runs) / runs.len() as f64 / offered(sizes);
    let mut clock = 0.0;
    let tasks = runs.into_iter().map(|run| {
        clock += random.exponential(gap);
        task(random, sizes, clock, run)
    });
    world(sizes, tasks.collect())
}

/// Lognormal with a median of 0.25 s and a mean near 0.5 s, cut at 5 s.
fn run_time(random: &mut Random) -> f64 {
    random.lognormal(0.25, 1.18).min(5.0)
}

/// Offered seconds of work per second.
fn offered(sizes: Drawn) -> f64 {
    sizes.load * (sizes.executors * EXECUTOR_SLOTS) as f64
}

fn sum(runs: &[f64]) -> f64 {
    runs.iter().sum()
}

fn task(random: &mut Random, sizes: Drawn, arrival: f64, run: f64) -> Task {
    Task {
        tenant: random.below(sizes.tenants),
        arrival: at(arrival),
        tolerance: seconds(TOLERANCES_S[random.below(TOLERANCES_S.len())]),
        cap: seconds(run * random.uniform(1.0, 3.0)),
        run: seconds(run),
        resources: Tier::Basic.resources(),
        priority: Priority::default(),
    }
}

fn world(sizes: Drawn, tasks: Vec<Task>) -> World {
    World {
        tenants: vec![Tenant { group: "tenants", weight: 1.0 }; sizes.tenants],
        tasks,
        executors: vec![executor(EXECUTOR_SLOTS); sizes.executors],
        until: None,
    }
}

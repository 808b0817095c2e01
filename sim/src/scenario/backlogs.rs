//! Scenarios with backlogs.

use super::sizes::Drawn;
use crate::random::Random;
use crate::world::{EXECUTOR_SLOTS, Task, Tenant, World, at, executor, seconds};
use domain::batch::Priority;
use domain::resources::{Resources, Tier};

pub fn flood(sizes: Drawn, random: &mut Random) -> World {
    const UNTIL_S: f64 = 60.0;
    let mut tasks: Vec<_> =
        (0..sizes.tasks).map(|_| task(0, 0.0, random.exponential(0.2))).collect();
    for tenant in 1..sizes.tenants {
        let mut clock = random.exponential(1.0);
        while clock < UNTIL_S {
            tasks.push(task(tenant, clock, random.exponential(0.2)));
            clock += random.exponential(1.0);
        }
    }
    let mut world = world(sizes, UNTIL_S, tasks);
    world.tenants.fill(Tenant { group: "light", weight: 1.0 });
    world.tenants[0].group = "heavy";
    world
}

pub fn crowd(sizes: Drawn, random: &mut Random) -> World {
    const UNTIL_S: f64 = 20.0;
    let others = sizes.tenants - 1;
    let mut tasks: Vec<_> = (0..sizes.tasks.saturating_sub(others))
        .map(|_| task(0, 0.0, random.exponential(0.2)))
        .collect();
    tasks.extend((1..=others).map(|tenant| {
        let arrival = random.uniform(0.0, UNTIL_S / 2.0);
        task(tenant, arrival, random.exponential(0.2))
    }));
    let mut world = world(sizes, UNTIL_S, tasks);
    world.tenants.fill(Tenant { group: "crowd", weight: 1.0 });
    world.tenants[0].group = "heavy";
    world
}

pub fn weights(sizes: Drawn, random: &mut Random) -> World {
    let runs = (0..sizes.tasks).map(|n| task(n % sizes.tenants, 0.0, random.exponential(0.2)));
    let mut world = world(sizes, 60.0, runs.collect());
    for (number, tenant) in world.tenants.iter_mut().enumerate() {
        let (group, weight) =
            [("weight 1", 1.0), ("weight 2", 2.0), ("weight 3", 3.0), ("weight 4", 4.0)]
                [number % 4];
        *tenant = Tenant { group, weight };
    }
    world
}

pub fn caps(sizes: Drawn, random: &mut Random) -> World {
    let tasks = (0..sizes.tasks).map(|n| {
        let tenant = n % sizes.tenants.min(2);
        let run = random.uniform(0.05, 0.1);
        Task { cap: seconds(if tenant == 0 { 60.0 } else { 0.1 }), ..task(tenant, 0.0, run) }
    });
    let mut world = world(sizes, 60.0, tasks.collect());
    world.tenants[0].group = "caps of 60 s";
    if let Some(other) = world.tenants.get_mut(1) {
        other.group = "caps of 0.1 s";
    }
    world
}

pub fn liar(sizes: Drawn, random: &mut Random) -> World {
    let tasks = (0..sizes.tasks).map(|n| {
        let tenant = n % sizes.tenants;
        let run = if tenant == 0 { 5.0 } else { random.uniform(0.05, 0.15) };
        Task { cap: seconds(if tenant == 0 { 0.1 } else { 0.3 }), ..task(tenant, 0.0, run) }
    });
    let mut world = world(sizes, 30.0, tasks.collect());
    world.tenants.fill(Tenant { group: "honest", weight: 1.0 });
    world.tenants[0].group = "liar";
    world
}

pub fn dominant(sizes: Drawn, random: &mut Random) -> World {
    let basic = Tier::Basic.resources();
    let demands = [
        Resources { cpu_millis: 4 * basic.cpu_millis, ..basic },
        Resources { memory_mib: 4 * basic.memory_mib, ..basic },
    ];
    let tasks = (0..sizes.tasks).map(|n| {
        let tenant = n % sizes.tenants.min(2);
        let run = random.exponential(0.2);
        Task { resources: demands[tenant], ..task(tenant, 0.0, run) }
    });
    let mut world = world(sizes, 60.0, tasks.collect());
    // Large executors, so that packing does not matter.
    world.executors = vec![executor(16 * EXECUTOR_SLOTS); sizes.executors.div_ceil(16)];
    world.tenants[0].group = "cpu";
    if let Some(other) = world.tenants.get_mut(1) {
        other.group = "memory";
    }
    world
}

/// A task with a cap a little above its run time, that may wait 10 s.
fn task(tenant: usize, arrival: f64, run: f64) -> Task {
    Task {
        tenant,
        arrival: at(arrival),
        tolerance: seconds(10.0),
        cap: seconds(run * 1.5),
        run: seconds(run),
        resources: Tier::Basic.resources(),
        priority: Priority::default(),
    }
}

fn world(sizes: Drawn, until_s: f64, tasks: Vec<Task>) -> World {
    World {
        tenants: vec![Tenant { group: "tenants", weight: 1.0 }; sizes.tenants],
        tasks,
        executors: vec![executor(EXECUTOR_SLOTS); sizes.executors],
        until: Some(at(until_s)),
    }
}

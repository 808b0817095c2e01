//! The scenarios: each draws a world from sizes and a seed.

mod arrivals;
mod backlogs;

use crate::random::Random;
use crate::world::World;
use serde::Serialize;

/// What can be simulated.
#[derive(Debug, Serialize)]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Its own sizes.
    pub sizes: Sizes,
    #[serde(skip)]
    draw: fn(Drawn, &mut Random) -> World,
}

/// Sizes; default: the scenario's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// Offered load; 1 is the capacity of the executors.
    pub load: Option<f64>,
    /// Executors, four slots each.
    pub executors: Option<usize>,
    /// Tenants.
    pub tenants: Option<usize>,
    /// Tasks.
    pub tasks: Option<usize>,
}

/// Complete sizes.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    load: f64,
    executors: usize,
    tenants: usize,
    tasks: usize,
}

impl Sizes {
    /// Missing sizes from `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            load: self.load.or(others.load),
            executors: self.executors.or(others.executors),
            tenants: self.tenants.or(others.tenants),
            tasks: self.tasks.or(others.tasks),
        }
    }
}

impl Scenario {
    pub(crate) fn draw(&self, sizes: Sizes, random: &mut Random) -> World {
        let sizes = sizes.or(self.sizes);
        let at_least_1 = |size: Option<usize>| size.unwrap_or(1).max(1);
        let drawn = Drawn {
            load: sizes.load.unwrap_or(1.0),
            executors: at_least_1(sizes.executors),
            tenants: at_least_1(sizes.tenants),
            tasks: at_least_1(sizes.tasks),
        };
        let mut world = (self.draw)(drawn, random);
        world.tasks.sort_by_key(|task| task.arrival);
        world
    }
}

/// The scenario of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

const fn sizes(load: f64, executors: usize, tenants: usize, tasks: usize) -> Sizes {
    let (executors, tenants, tasks) = (Some(executors), Some(tenants), Some(tasks));
    Sizes { load: Some(load), executors, tenants, tasks }
}

/// Every scenario.
pub static SCENARIOS: [Scenario; 12] = [
    Scenario {
        name: "poisson",
        about: "Tasks of 0.25 s (median) to 5 s arrive evenly and may wait 0.5 s, 2 s, 10 s or 60 s",
        sizes: sizes(0.95, 4, 1, 20_000),
        draw: arrivals::poisson,
    },
    Scenario {
        name: "gold-bronze",
        about: "The same from two tenants, one of three times the weight",
        sizes: sizes(1.1, 4, 2, 20_000),
        draw: arrivals::gold_bronze,
    },
    Scenario {
        name: "bursts",
        about: "Each tenant sends 200 tasks at a time",
        sizes: sizes(0.9, 8, 10, 20_000),
        draw: arrivals::bursts,
    },
    Scenario {
        name: "heavy-tail",
        about: "Run times without a mean worth the name: most 0.1 s, some 10 minutes",
        sizes: sizes(0.8, 8, 10, 20_000),
        draw: arrivals::heavy_tail,
    },
    Scenario {
        name: "herd",
        about: "Half of all tasks come in the first second of a minute",
        sizes: sizes(0.7, 8, 20, 20_000),
        draw: arrivals::herd,
    },
    Scenario {
        name: "flood",
        about: "One tenant has all its tasks there at once, the others send one a second, for 60 s",
        sizes: sizes(1.0, 8, 10, 20_000),
        draw: backlogs::flood,
    },
    Scenario {
        name: "weights",
        about: "All tenants have more than they can get, with weights 1 to 4, for 60 s",
        sizes: sizes(1.0, 8, 10, 20_000),
        draw: backlogs::weights,
    },
    Scenario {
        name: "caps",
        about: "Two tenants with the same work, one with caps of 60 s, the other of 0.1 s, for 60 s",
        sizes: sizes(1.0, 8, 2, 60_000),
        draw: backlogs::caps,
    },
    Scenario {
        name: "liar",
        about: "One of the tenants declares caps of 0.1 s and takes 5 s, for 30 s",
        sizes: sizes(1.0, 8, 10, 20_000),
        draw: backlogs::liar,
    },
    Scenario {
        name: "dominant",
        about: "One tenant needs cpu, the other memory, for 60 s",
        sizes: sizes(1.0, 40, 2, 40_000),
        draw: backlogs::dominant,
    },
    Scenario {
        name: "crowd",
        about: "Ten thousand tenants send one task each into the flood of another",
        sizes: sizes(1.0, 50, 10_001, 60_000),
        draw: backlogs::crowd,
    },
    Scenario {
        name: "priority",
        about: "As poisson; one task in ten has priority 5",
        sizes: sizes(1.1, 4, 1, 20_000),
        draw: arrivals::priority,
    },
];

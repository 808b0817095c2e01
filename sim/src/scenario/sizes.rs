//! How large a scenario is drawn.

use serde::Serialize;

/// How much of everything; what is not given is the scenario's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// Work that arrives by work that can be done; 1 is all that the executors can do.
    pub load: Option<f64>,
    /// Executors, of four slots each.
    pub executors: Option<usize>,
    /// Tenants.
    pub tenants: Option<usize>,
    /// Tasks.
    pub tasks: Option<usize>,
}

/// Sizes that are all given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    pub(super) load: f64,
    pub(super) executors: usize,
    pub(super) tenants: usize,
    pub(super) tasks: usize,
}

impl Sizes {
    /// With `others` where nothing is given.
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

pub(super) const fn sizes(load: f64, executors: usize, tenants: usize, tasks: usize) -> Sizes {
    let (executors, tenants, tasks) = (Some(executors), Some(tenants), Some(tasks));
    Sizes { load: Some(load), executors, tenants, tasks }
}

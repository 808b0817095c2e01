//! What unit tests of this crate put in the place of the database and of executors. The clock is tokio's virtual one, and the
//! bus that of one process: such a test neither waits nor meets another.

mod executor;
mod store;
mod task;

pub(crate) use executor::{FakeExecutor, connect, disconnect};
pub(crate) use store::FakeStore;
pub(crate) use task::FakeTask;

use crate::fleet::Fleet;
use bus::Bus;
use runtime::clock;
use runtime::config::{Config, load_from};
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::TaskGroup;
use std::time::Duration;

/// The settings as they come, with the bus of one process.
pub(crate) fn config() -> Config {
    load_from(None, [("BERTH_BUS__KIND".to_owned(), "in_process".to_owned())]).unwrap()
}

/// What a loop under test is given, and how it is ended.
pub(crate) struct World {
    pub config: Config,
    pub store: FakeStore,
    pub fleet: Fleet,
    pub bus: Bus,
    pub tasks: TaskGroup,
    pub shutdown: Shutdown,
    pub stop: ShutdownHandle,
    /// The bus outlives the loops, as in a process that drains.
    _bus: ShutdownHandle,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// The same with other settings.
    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let (mut config, tasks) = (config(), TaskGroup::new());
        change(&mut config);
        let (stop, shutdown) = Shutdown::new();
        let (bus_stop, bus_shutdown) = Shutdown::new();
        let bus = Bus::connect(&config.bus, &tasks, &bus_shutdown).unwrap();
        let fleet = Fleet::new(config.resource_manager.quarantine());
        let store = FakeStore::default();
        Self { config, store, fleet, bus, tasks, shutdown, stop, _bus: bus_stop }
    }
}

/// Lets virtual time pass; all that can be done meanwhile is done.
pub(crate) async fn pass(time: Duration) {
    clock::sleep(time).await;
}

/// Lets everything happen that waits for no time.
pub(crate) async fn quiet() {
    pass(Duration::from_millis(1)).await;
}

//! A role's bus, which ends after the role.
//!
//! A draining role still publishes, and still acks what it has placed; a bus that stopped on the same signal would turn
//! each of those into a redelivery.

use crate::failure::{Exit, Failure};
use bus::Bus;
use runtime::config::{BusConfig, BusKind};
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::TaskGroup;
use std::time::Duration;

/// Time for the last acks to leave; what does not make it is delivered again, which is harmless.
const LAST_WORDS: Duration = Duration::from_secs(3);

pub struct OwnBus {
    /// The bus itself.
    pub bus: Bus,
    tasks: TaskGroup,
    stop: ShutdownHandle,
}

impl OwnBus {
    /// Connects in the background.
    pub fn connect(config: &BusConfig) -> Result<Self, Failure> {
        let tasks = TaskGroup::new();
        let (stop, stopping) = Shutdown::new();
        let bus = Bus::connect(config, &tasks, &stopping)
            .map_err(|error| Failure::caused(Exit::Usage, &error))?;
        Ok(Self { bus, tasks, stop })
    }

    /// The same for roles that hand each other hints, which the bus inside one process cannot carry to another.
    pub fn between_processes(config: &BusConfig) -> Result<Self, Failure> {
        match config.kind {
            BusKind::RabbitMq => Self::connect(config),
            BusKind::InProcess => Err(Failure::usage(
                "`bus.kind` is \"in_process\", but this role is a process of its own and could hand on no task; \
                 set it to \"rabbitmq\" (BERTH_BUS__KIND)",
            )),
        }
    }

    /// To be called after the role has drained.
    pub async fn close(self) {
        self.stop.shut_down();
        drop(self.bus);
        if let Err(still) = self.tasks.join_all(LAST_WORDS).await {
            tracing::debug!(error = %still, "The bus did not close in time");
        }
    }
}

//! All roles and one executor in this process, with hints in memory.
//!
//! They meet as they always do: in Postgres, on the bus, and on the executor's stream over a port of the moment. Each role has
//! a shutdown of its own, so that they end one after the other.

use super::super::listen::{Choice, refused, settle};
use crate::failure::{Exit, Failure};
use crate::role::OwnBus;
use executor::{Executor, ExecutorError, IsolationReport};
use resource_manager::ResourceManager;
use runtime::config::Config;
use runtime::error_chain::ErrorChain;
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::{TaskGroup, TaskHandle};
use scheduler::Scheduler;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

/// Time for a tick that has begun to end; each is one short transaction.
const LAST_TICKS: Duration = Duration::from_secs(5);
/// Others may take a free port between our look and our start.
const LISTEN_TRIES: usize = 5;

/// The running roles.
pub struct Embedded {
    api: api::Handle,
    scheduler: Scheduler,
    manager: ResourceManager,
    executor: TaskHandle<Result<(), ExecutorError>>,
    executor_health: SocketAddr,
    isolation: IsolationReport,
    manager_grace: Duration,
    bus: OwnBus,
    stop_api: ShutdownHandle,
    stop_scheduler: ShutdownHandle,
    stop_executor: ShutdownHandle,
    stop_manager: ShutdownHandle,
}

impl Embedded {
    /// Starts all of them on a migrated database.
    pub async fn start(mut config: Config, choice: Choice) -> Result<Self, Failure> {
        let caused =
            |error: &(dyn std::error::Error + 'static)| Failure::caused(Exit::Failed, error);
        let bus = OwnBus::connect(&config.bus)?;
        let (stop_manager, stopping) = Shutdown::new();
        let manager = ResourceManager::start(&config, bus.bus.clone(), &stopping)
            .await
            .map_err(|error| caused(&error))?;
        let (stop_scheduler, stopping) = Shutdown::new();
        let scheduler = Scheduler::start(&config, bus.bus.clone(), &stopping)
            .await
            .map_err(|error| caused(&error))?;

        config.executor.resource_managers = vec![format!("http://{}", manager.addr)];
        let (stop_executor, stopping) = Shutdown::new();
        let secret = config.auth.executor_secret()?.clone();
        let executor = Executor::start(&config.executor, &secret, stopping)
            .await
            .map_err(|error| caused(&error))?;
        let executor_health = executor.health_address();
        let isolation = executor.isolation().clone();
        let executor = TaskGroup::new().spawn("up_executor", executor.wait());

        let (stop_api, stopping) = Shutdown::new();
        let api = start_api(&mut config, choice, &bus, &stopping).await?;
        let manager_grace = config.resource_manager.shutdown_grace;
        Ok(Self {
            api,
            scheduler,
            manager,
            executor,
            executor_health,
            isolation,
            manager_grace,
            bus,
            stop_api,
            stop_scheduler,
            stop_executor,
            stop_manager,
        })
    }

    /// Where the API listens.
    pub const fn listen(&self) -> SocketAddr {
        self.api.addr
    }

    /// What commands are held to on this machine.
    pub const fn isolation(&self) -> &IsolationReport {
        &self.isolation
    }

    /// Waits until every role is ready.
    pub async fn ready(&self) -> Result<(), Failure> {
        let broken = || self.executor.is_finished().then(|| Failure::failed("the executor ended"));
        for (role, address) in [
            ("resource manager", self.manager.health_addr),
            ("scheduler", self.scheduler.health_addr),
            ("executor", self.executor_health),
            ("api", self.api.addr),
        ] {
            super::ready(role, address, broken).await?;
        }
        Ok(())
    }

    /// Waits for a role that ends before its time, which is a bug.
    pub async fn broken(&mut self) -> Failure {
        match self.executor.join().await {
            Ok(Err(error)) => Failure::caused(Exit::Failed, &error),
            Ok(Ok(())) => Failure::failed("the executor ended"),
            Err(error) => Failure::caused(Exit::Failed, &error),
        }
    }

    /// Ends them: no new requests, no new hand-outs; then what runs may end and is settled; then its owner goes.
    pub async fn stop(mut self) {
        self.stop_api.shut_down();
        if let Err(error) = self.api.stopped().await {
            tracing::warn!(%error, "The API did not end in time: {error}");
        }
        self.stop_scheduler.shut_down();
        self.scheduler.stopped(LAST_TICKS).await;
        self.stop_executor.shut_down();
        if !self.executor.is_finished()
            && let Ok(Err(error)) = self.executor.join().await
        {
            tracing::warn!(error = %ErrorChain(&error), "The executor did not end as it should");
        }
        self.stop_manager.shut_down();
        self.manager.stopped(self.manager_grace).await;
        self.bus.close().await;
    }
}

async fn start_api(
    config: &mut Config,
    choice: Choice,
    bus: &OwnBus,
    stopping: &Shutdown,
) -> Result<api::Handle, Failure> {
    let mut tries = 0;
    loop {
        tries += 1;
        match api::start(config, bus.bus.clone(), stopping.clone()).await {
            Ok(api) => return Ok(api),
            Err(api::StartError::Listen { address, source }) => {
                let next = source.kind() == ErrorKind::AddrInUse && choice == Choice::Default;
                if !next || tries == LISTEN_TRIES {
                    return Err(refused(address, &source));
                }
                config.api.listen = settle(address, choice)?;
            }
            Err(error) => return Err(Failure::caused(Exit::Failed, &error)),
        }
    }
}

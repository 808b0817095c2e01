//! All roles and one executor in this process, with hints in memory.
//!
//! They meet as they always do: in Postgres, on the bus, and on the executor's stream over a port of the moment. Each role has
//! a shutdown of its own, so that they end one after the other.

use super::super::listen::{Choice, refused, settle};
use crate::failure::{Exit, Failure};
use crate::role::LAST_TRIES;
use crate::role::OwnBus;
use bus::Bus;
use executor::{Executor, ExecutorError, IsolationReport};
use notifier::Notifier;
use resource_manager::ResourceManager;
use runtime::config::Config;
use runtime::error_chain::ErrorChain;
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::{TaskGroup, TaskHandle};
use scheduler::Scheduler;
use std::future::pending;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

/// Time for a tick that has begun to end; each is one short transaction.
const LAST_TICKS: Duration = Duration::from_secs(5);
/// Others may take a free port between our look and our start.
const LISTEN_TRIES: usize = 5;

/// The running roles, in the order in which they start; those not there have not been started yet.
#[derive(Default)]
pub struct Embedded {
    bus: Option<OwnBus>,
    manager: Option<(ResourceManager, ShutdownHandle)>,
    manager_grace: Duration,
    scheduler: Option<(Scheduler, ShutdownHandle)>,
    notifier: Option<(Notifier, ShutdownHandle)>,
    executor: Option<Agent>,
    api: Option<(api::Handle, ShutdownHandle)>,
}

/// The executor.
struct Agent {
    ended: TaskHandle<Result<(), ExecutorError>>,
    health: SocketAddr,
    isolation: IsolationReport,
    stop: ShutdownHandle,
}

impl Embedded {
    /// Starts all of them on a migrated database. On an error those that were started are left to be stopped.
    pub async fn start(&mut self, mut config: Config, choice: Choice) -> Result<(), Failure> {
        let caused =
            |error: &(dyn std::error::Error + 'static)| Failure::caused(Exit::Failed, error);
        let bus = self.bus.insert(OwnBus::connect(&config.bus)?).bus.clone();
        let (stop, stopping) = Shutdown::new();
        let manager = ResourceManager::start(&config, bus.clone(), &stopping)
            .await
            .map_err(|error| caused(&error))?;
        config.executor.resource_managers = vec![format!("http://{}", manager.addr)];
        self.manager = Some((manager, stop));
        self.manager_grace = config.resource_manager.shutdown_grace;

        let (stop, stopping) = Shutdown::new();
        let scheduler = Scheduler::start(&config, bus.clone(), &stopping)
            .await
            .map_err(|error| caused(&error))?;
        self.scheduler = Some((scheduler, stop));

        let (stop, stopping) = Shutdown::new();
        let notifier = Notifier::start(&config, &stopping).await.map_err(|error| caused(&error))?;
        self.notifier = Some((notifier, stop));

        let (stop, stopping) = Shutdown::new();
        let secret = config.auth.executor_secret()?.clone();
        let executor = Executor::start(&config.executor, &secret, stopping)
            .await
            .map_err(|error| caused(&error))?;
        let (health, isolation) = (executor.health_address(), executor.isolation().clone());
        let ended = TaskGroup::new().spawn("up_executor", executor.wait());
        self.executor = Some(Agent { ended, health, isolation, stop });

        let (stop, stopping) = Shutdown::new();
        self.api = Some((start_api(&mut config, choice, &bus, &stopping).await?, stop));
        Ok(())
    }

    /// Where the API listens, once it does.
    pub fn listen(&self) -> Option<SocketAddr> {
        self.api.as_ref().map(|(api, _)| api.addr)
    }

    /// What commands are held to on this machine.
    pub fn isolation(&self) -> Option<&IsolationReport> {
        self.executor.as_ref().map(|executor| &executor.isolation)
    }

    /// Waits until every role is ready.
    pub async fn ready(&self) -> Result<(), Failure> {
        let executor = self.executor.as_ref();
        let broken = || {
            executor
                .is_some_and(|executor| executor.ended.is_finished())
                .then(|| Failure::failed("the executor ended"))
        };
        for (role, address) in [
            ("resource manager", self.manager.as_ref().map(|(manager, _)| manager.health_addr)),
            ("scheduler", self.scheduler.as_ref().map(|(scheduler, _)| scheduler.health_addr)),
            ("notifier", self.notifier.as_ref().map(|(notifier, _)| notifier.health_addr)),
            ("executor", executor.map(|executor| executor.health)),
            ("api", self.listen()),
        ] {
            if let Some(address) = address {
                super::ready(role, address, broken).await?;
            }
        }
        Ok(())
    }

    /// Waits for a role that ends before its time, which is a bug.
    pub async fn broken(&mut self) -> Failure {
        let Some(executor) = &mut self.executor else { return pending().await };
        match executor.ended.join().await {
            Ok(Err(error)) => Failure::caused(Exit::Failed, &error),
            Ok(Ok(())) => Failure::failed("the executor ended"),
            Err(error) => Failure::caused(Exit::Failed, &error),
        }
    }

    /// Ends them: no new requests, no new hand-outs; then what runs may end and is settled; then its owner goes.
    pub async fn stop(self) {
        if let Some((api, stop)) = self.api {
            stop.shut_down();
            if let Err(error) = api.stopped().await {
                tracing::warn!(%error, "The API did not end in time: {error}");
            }
        }
        if let Some((scheduler, stop)) = self.scheduler {
            stop.shut_down();
            scheduler.stopped(LAST_TICKS).await;
        }
        if let Some(mut executor) = self.executor {
            executor.stop.shut_down();
            if !executor.ended.is_finished()
                && let Ok(Err(error)) = executor.ended.join().await
            {
                tracing::warn!(error = %ErrorChain(&error), "The executor did not end as it should");
            }
        }
        if let Some((notifier, stop)) = self.notifier {
            stop.shut_down();
            notifier.stopped(LAST_TRIES).await;
        }
        if let Some((manager, stop)) = self.manager {
            stop.shut_down();
            manager.stopped(self.manager_grace).await;
        }
        if let Some(bus) = self.bus {
            bus.close().await;
        }
    }
}

async fn start_api(
    config: &mut Config,
    choice: Choice,
    bus: &Bus,
    stopping: &Shutdown,
) -> Result<api::Handle, Failure> {
    let mut tries = 0;
    loop {
        tries += 1;
        match api::start(config, bus.clone(), stopping.clone()).await {
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

//! `berth scheduler`.

use super::own_bus::OwnBus;
use super::process::Process;
use super::ready::Ready;
use crate::failure::{Exit, Failure};
use crate::settings_arguments::SettingsArguments;
use scheduler::Scheduler;
use std::time::Duration;

/// Time for a tick that has begun to end; each is one short transaction.
const LAST_TICKS: Duration = Duration::from_secs(10);

/// Runs a scheduler until SIGTERM; another takes the batcher's place at once.
pub async fn run(arguments: &SettingsArguments) -> Result<(), Failure> {
    let process = Process::begin("scheduler", arguments)?;
    let own = OwnBus::between_processes(&process.config.bus)?;
    let scheduler = Scheduler::start(&process.config, own.bus.clone(), &process.shutdown)
        .await
        .map_err(|error| Failure::caused(Exit::Failed, &error))?;
    Ready { role: "scheduler", listen: None, health: Some(scheduler.health_addr) }.announce()?;
    process.shutdown.cancelled().await;
    scheduler.stopped(LAST_TICKS).await;
    own.close().await;
    Ok(())
}

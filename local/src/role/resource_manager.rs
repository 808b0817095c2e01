//! `berth resource-manager`.

use super::own_bus::OwnBus;
use super::process::Process;
use super::ready::Ready;
use crate::failure::{Exit, Failure};
use crate::settings_arguments::SettingsArguments;
use resource_manager::ResourceManager;

/// Runs a resource manager until SIGTERM; its executors go to another, with their work.
pub async fn run(arguments: &SettingsArguments) -> Result<(), Failure> {
    let process = Process::begin("resource-manager", arguments)?;
    let own = OwnBus::between_processes(&process.config.bus)?;
    let manager = ResourceManager::start(&process.config, own.bus.clone(), &process.shutdown)
        .await
        .map_err(|error| Failure::caused(Exit::Failed, &error))?;
    Ready {
        role: "resource-manager",
        listen: Some(manager.addr),
        health: Some(manager.health_addr),
    }
    .announce()?;
    process.shutdown.cancelled().await;
    manager.stopped(process.config.resource_manager.shutdown_grace).await;
    own.close().await;
    Ok(())
}

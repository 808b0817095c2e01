//! `berth api`.

use super::own_bus::OwnBus;
use super::process::Process;
use super::ready::Ready;
use crate::failure::{Exit, Failure};
use crate::settings_arguments::SettingsArguments;

/// Runs the HTTP API until SIGTERM; open requests get `api.shutdown_grace` to end.
pub async fn run(arguments: &SettingsArguments) -> Result<(), Failure> {
    let process = Process::begin("api", arguments)?;
    let own = OwnBus::connect(&process.config.bus)?;
    let api = api::start(&process.config, own.bus.clone(), process.shutdown.clone())
        .await
        .map_err(|error| Failure::caused(Exit::Failed, &error))?;
    // The probes are routes of the API itself, too.
    let health = Some(api.metrics.unwrap_or(api.addr));
    Ready { role: "api", listen: Some(api.addr), health }.announce()?;
    process.shutdown.cancelled().await;
    let stopped = api.stopped().await;
    own.close().await;
    stopped.map_err(|error| Failure::caused(Exit::Failed, &error))
}

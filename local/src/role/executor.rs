//! `berth executor`.

use super::process::Process;
use super::ready::Ready;
use crate::failure::{Exit, Failure};
use crate::settings_arguments::SettingsArguments;
use executor::Executor;

/// Runs an executor until SIGTERM; running attempts get `executor.drain_grace`, then are handed back.
pub async fn run(arguments: &SettingsArguments) -> Result<(), Failure> {
    let process = Process::begin("executor", arguments)?;
    let secret = process.config.auth.executor_secret()?.clone();
    let executor = Executor::start(&process.config.executor, &secret, process.shutdown)
        .await
        .map_err(|error| Failure::caused(Exit::Failed, &error))?;
    Ready { role: "executor", listen: None, health: Some(executor.health_address()) }.announce()?;
    executor.wait().await.map_err(|error| Failure::caused(Exit::Failed, &error))
}

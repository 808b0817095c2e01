//! `berth notifier`.

use super::process::Process;
use super::ready::Ready;
use crate::failure::{Exit, Failure};
use crate::settings_arguments::SettingsArguments;
use notifier::Notifier;
use std::time::Duration;

/// Time for the tries that are under way: the longest that a receiver may take, but for those with the longest timeout.
pub(crate) const LAST_TRIES: Duration = Duration::from_secs(20);

/// Runs a notifier until SIGTERM. What it does not end by then another sends again.
pub async fn run(arguments: &SettingsArguments) -> Result<(), Failure> {
    let process = Process::begin("notifier", arguments)?;
    let notifier = Notifier::start(&process.config, &process.shutdown)
        .await
        .map_err(|error| Failure::caused(Exit::Failed, &error))?;
    Ready { role: "notifier", listen: None, health: Some(notifier.health_addr) }.announce()?;
    process.shutdown.cancelled().await;
    notifier.stopped(LAST_TRIES).await;
    Ok(())
}

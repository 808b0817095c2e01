//! `berth admin pool set`.

use super::database;
use crate::arguments::SettingsArguments;
use crate::failure::Failure;
use crate::output::{self, Format};
use domain::id::PoolName;
use runtime::config;
use serde_json::json;

/// A pool and what it allows. What is not given stays as it is; in a new pool it is off.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin pool set crawlers --command-network on\n\nExecutors hear of it when they connect next."
)]
pub struct PoolSetArguments {
    /// Its name; stored where it is new.
    pub name: PoolName,
    /// Whether commands reach the network of their executor.
    #[arg(long, value_name = "on|off", value_parser = switch)]
    pub command_network: Option<bool>,
    /// Whether HTTP tasks reach private, loopback and link-local addresses.
    #[arg(long, value_name = "on|off", value_parser = switch)]
    pub private_targets: Option<bool>,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// Stores it and prints what holds now.
pub async fn run(arguments: &PoolSetArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let (network, private) = (arguments.command_network, arguments.private_targets);
    let set = store::pool::set(&db, &arguments.name, network, private).await;
    db.close().await;
    let policy = set.map_err(|error| database::failure(&error))?;
    let word = |on: bool| if on { "on" } else { "off" };
    match format {
        Format::Json => output::line(
            &json!({"name": arguments.name, "command_network": policy.command_network,
                "private_targets": policy.private_targets})
            .to_string(),
        ),
        Format::Table => output::line(&format!(
            "{}: command network {}, private targets {}",
            arguments.name,
            word(policy.command_network),
            word(policy.private_targets)
        )),
    }
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

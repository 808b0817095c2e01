//! `berth admin pool list`, `set`, `pause` and `resume`.

use super::database;
use super::operator::OperatorSettings;
use crate::arguments::SettingsArguments;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, Table, age};
use domain::id::PoolName;
use runtime::{clock, config};
use serde_json::{Value, json};
use store::StoreError;
use store::pool::PoolRecord;

const COLUMNS: [&str; 4] = ["NAME", "COMMAND NETWORK", "PRIVATE TARGETS", "PAUSED"];

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
    settings: OperatorSettings,
}

/// Which pool, and why.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin pool pause default --because 'a new kernel on all machines'"
)]
pub struct PoolPauseArguments {
    /// Its name.
    pub name: PoolName,
    /// Why, for people: 1 to 500 characters.
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub because: String,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Which pool.
#[derive(Debug, clap::Args)]
pub struct PoolArguments {
    /// Its name.
    pub name: PoolName,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// Shows every pool.
pub async fn list(settings: &SettingsArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(settings.config.as_deref())?;
    let db = database::open(&config)?;
    let pools = store::pool::list_for_operator(&db).await;
    db.close().await;
    show(&pools.map_err(|error| database::failure(&error))?, format)
}

/// Stores a pool and prints what holds now.
pub async fn set(arguments: &PoolSetArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let (network, private) = (arguments.command_network, arguments.private_targets);
    let set =
        store::pool::set(&db, &arguments.name, network, private, arguments.settings.by()).await;
    db.close().await;
    show(&[set.map_err(|error| database::failure(&error))?], format)
}

/// Pauses a pool and prints how it stands.
pub async fn pause(arguments: &PoolPauseArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let name = &arguments.name;
    let paused = store::pool::pause(&db, name, &arguments.because, arguments.settings.by()).await;
    db.close().await;
    stands(name, paused, format)
}

/// Resumes a pool and prints how it stands.
pub async fn resume(arguments: &PoolArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let resumed = store::pool::resume(&db, &arguments.name, arguments.settings.by()).await;
    db.close().await;
    stands(&arguments.name, resumed, format)
}

fn stands(
    name: &PoolName,
    pool: Result<Option<PoolRecord>, StoreError>,
    format: Format,
) -> Result<(), Failure> {
    let pool = pool.map_err(|error| database::failure(&error))?;
    let unknown = || {
        let text = format!("there is no pool named `{name}`; see `berth admin pool list`");
        Failure::new(Exit::NotFound, text)
    };
    show(&[pool.ok_or_else(unknown)?], format)
}

fn show(pools: &[PoolRecord], format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => pools.iter().try_for_each(|pool| output::line(&document(pool).to_string())),
        Format::Table => {
            let mut table = Table::new(COLUMNS);
            pools.iter().for_each(|pool| table.row(cells(pool)));
            output::text(&table.take())
        }
    }
}

fn document(pool: &PoolRecord) -> Value {
    json!({"name": pool.name, "command_network": pool.policy.command_network,
        "private_targets": pool.policy.private_targets, "paused_at": pool.pause.as_ref().map(|pause| pause.at),
        "paused_because": pool.pause.as_ref().map(|pause| &pause.because)})
}

fn cells(pool: &PoolRecord) -> [String; 4] {
    let paused = pool
        .pause
        .as_ref()
        .map(|pause| format!("{}: {}", age::ago(pause.at, clock::wall()), pause.because));
    [
        pool.name.to_string(),
        on_or_off(pool.policy.command_network).to_owned(),
        on_or_off(pool.policy.private_targets).to_owned(),
        paused.unwrap_or_default(),
    ]
}

pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

pub(super) const fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn reason(text: &str) -> Result<String, String> {
    match text.chars().count() {
        1..=500 => Ok(text.to_owned()),
        _ => Err("expected 1 to 500 characters".to_owned()),
    }
}

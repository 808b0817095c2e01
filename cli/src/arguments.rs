//! What can be typed after `berth`.
//!
//! Read by `main` alone. One struct a command, kept beside the code that runs it; here is only the list.

use crate::admin::{KeyCreateArguments, TenantCreateArguments};
use crate::output::Format;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Berth runs commands for many customers, fairly and once.
#[derive(Debug, Parser)]
#[command(name = "berth", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// For whom the output is.
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub output: Format,
}

/// Every command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the HTTP API.
    Api(SettingsArguments),
    /// Run a scheduler: due times, and whose turn it is.
    Scheduler(SettingsArguments),
    /// Run a resource manager: where tasks run, and under which lease.
    ResourceManager(SettingsArguments),
    /// Run an executor: the agent that runs tasks on this machine.
    Executor(SettingsArguments),
    /// Bring the database to this version: tables, policies, logins of the services.
    Migrate(SettingsArguments),
    /// What the platform's operators do, straight in the database.
    #[command(subcommand)]
    Admin(AdminCommand),
}

/// What the platform's operators do.
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Tenants: the customers.
    #[command(subcommand)]
    Tenant(TenantCommand),
    /// API keys.
    #[command(subcommand)]
    Key(KeyCommand),
}

/// What can be done with tenants.
#[derive(Debug, Subcommand)]
pub enum TenantCommand {
    /// Create a tenant and print its id.
    Create(TenantCreateArguments),
}

/// What can be done with API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create an API key and print it, once.
    Create(KeyCreateArguments),
}

/// Where the settings of a role or an operator's command come from.
#[derive(Debug, Args)]
pub struct SettingsArguments {
    /// File with settings, TOML. BERTH_CONFIG names it too; BERTH_<SECTION>__<KEY> sets a single one.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

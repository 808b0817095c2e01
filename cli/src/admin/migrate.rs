//! `berth migrate`: brings the database to this version.

use super::database::migration_failure;
use crate::failure::{Exit, Failure};
use crate::output;
use runtime::config;
use std::path::PathBuf;
use store::migrate::{How, print_roles, run as migrate};

/// How to migrate.
#[derive(Debug, clap::Args)]
pub struct MigrateArguments {
    /// Settings file, TOML (or BERTH_CONFIG). The environment variable `BERTH_SECTION__KEY` sets a single key.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Change the passwords of existing database roles to the configured ones. Running services need them for new connections.
    #[arg(long)]
    pub reset_passwords: bool,
    /// Hold schedules until an operator releases them: for a restore that Postgres does not show, such as a copy of its files.
    #[arg(long)]
    pub restored: bool,
    /// Only print the SQL that creates the service roles, without passwords: for an owner without CREATEROLE.
    #[arg(long, conflicts_with_all = ["reset_passwords", "restored"])]
    pub print_roles: bool,
}

/// Runs what is missing; running it again does nothing, and several at once wait for each other.
pub async fn run(arguments: &MigrateArguments) -> Result<(), Failure> {
    let database = config::load(arguments.config.as_deref())?.database;
    if arguments.print_roles {
        let script =
            print_roles(&database).map_err(|error| Failure::caused(Exit::Usage, &error))?;
        return output::text(&script);
    }
    let how = How { reset_passwords: arguments.reset_passwords, restored: arguments.restored };
    let migrated = migrate(&database, how).await.map_err(|error| migration_failure(&error))?;
    migrated.notes.iter().for_each(|note| output::remark(&format!("Note: {note}.")));
    if let Some(because) = &migrated.held {
        output::remark(&format!(
            "No schedule fires: {because}. Run `berth admin resume-after-restore` to see what would fire and to resume."
        ));
    }
    output::line("The database is up to date.")
}

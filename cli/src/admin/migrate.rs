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
    /// File with settings, TOML. BERTH_CONFIG names it too; `BERTH_SECTION__KEY` sets a single one.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Change the passwords of logins that are there to those given. Roles that run need the new ones when they connect next.
    #[arg(long)]
    pub reset_passwords: bool,
    /// The database was restored where nothing shows it, such as from a copy of its files: hold schedules until an operator has looked.
    #[arg(long)]
    pub restored: bool,
    /// Print the SQL that makes the logins, for an owner who may make none, and do nothing. It shows no password.
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
            "No schedule fires: {because}. `berth admin resume-after-restore` shows what would fire, and lets it."
        ));
    }
    output::line("The database is up to date.")
}

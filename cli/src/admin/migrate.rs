//! `berth migrate`: brings the database to this version.

use super::database::failure;
use crate::arguments::SettingsArguments;
use crate::failure::Failure;
use crate::output;
use runtime::config::{self, ExposeSecret};

/// Runs what is missing; running it again does nothing, and several at once wait for each other.
pub async fn run(arguments: &SettingsArguments) -> Result<(), Failure> {
    let database = config::load(arguments.config.as_deref())?.database;
    store::migrate::run(database.url.expose_secret(), database.service_password.expose_secret())
        .await
        .map_err(|error| failure(&error))?;
    output::line("The database is up to date.")
}

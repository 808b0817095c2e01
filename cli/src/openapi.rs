//! `berth openapi`: the document that `GET /openapi.json` answers with, without a server or a database.
//!
//! For linters and generators of clients: the same bytes as a server with the same settings gives.

use crate::failure::Failure;
use crate::output;
use crate::settings_arguments::SettingsArguments;

/// Writes the document to standard output.
pub fn run(arguments: &SettingsArguments) -> Result<(), Failure> {
    let limits = runtime::config::load(arguments.config.as_deref())?.limits;
    let json = serde_json::to_vec(&api::description::document(&limits))
        .map_err(|error| Failure::failed(format!("the document cannot be written: {error}")))?;
    output::document(&json)
}

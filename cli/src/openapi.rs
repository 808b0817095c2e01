//! `berth openapi`: the document that `GET /openapi.json` answers with, without a server or a database.
//!
//! For linters and generators of clients: the same bytes as a server with the same settings gives.

use crate::arguments::SettingsArguments;
use crate::failure::Failure;
use crate::output;

/// Writes the document to standard output.
pub fn run(arguments: &SettingsArguments) -> Result<(), Failure> {
    let limits = runtime::config::load(arguments.config.as_deref())?.limits;
    let json = serde_json::to_vec(&api::openapi::document(&limits))
        .map_err(|error| Failure::failed(format!("the document cannot be written: {error}")))?;
    output::document(&json)
}

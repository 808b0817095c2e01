//! `berth workflow delete`.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::name::name;
use crate::failure::Failure;
use crate::output::{self, Format};

/// Which workflow, in which version.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth workflow delete load")]
pub struct DeleteArguments {
    /// Name.
    #[arg(value_parser = name)]
    pub name: String,
    /// Only if the workflow has this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub if_version: Option<i64>,
}

/// Deletes a workflow.
pub async fn run(connection: &Connection, arguments: &DeleteArguments) -> Result<(), Failure> {
    let deleted = connection.client.delete_workflow(&arguments.name, arguments.if_version).await;
    let deleted = deleted.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(deleted.json()),
        Format::Table => output::line(&format!("{} deleted; its runs continue", deleted.name)),
    }
}

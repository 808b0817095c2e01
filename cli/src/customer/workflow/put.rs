//! `berth workflow put`.
//!
//! The same again changes nothing, so that a script may put what it wants at each start.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::warned::warned;
use super::file;
use super::get::details;
use super::name::name;
use crate::failure::Failure;
use crate::output::{self, Format};
use runtime::clock;

/// A workflow to store.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth workflow put load load.yaml\n  berth workflow get load --definition > load.json && berth workflow put load load.json\n\n\
                  This replaces the whole definition. Runs that were started before keep theirs."
)]
pub struct PutArguments {
    /// Name: 1 to 100 of a-z A-Z 0-9 _ . -
    #[arg(value_parser = name)]
    pub name: String,
    /// JSON or YAML file with the definition; `-`: standard input.
    pub file: String,
    /// Only if the workflow has this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..))]
    pub if_version: Option<i64>,
}

/// Stores a workflow.
pub async fn run(connection: &Connection, arguments: &PutArguments) -> Result<(), Failure> {
    let PutArguments { name, file, if_version } = arguments;
    let definition = file::json(file)?;
    // A key that may submit and not read cannot see what was there before.
    let before = connection.client.workflow(name).await.ok().map(|before| before.version);
    let stored = connection.client.put_workflow(name, &definition, *if_version).await;
    let stored = stored.map_err(|error| failure(&error))?;
    warned(&stored.warnings);
    match before {
        Some(before) if before == stored.version => {
            output::remark(&format!("berth: workflow {name} is unchanged: version {before}"));
        }
        Some(before) => {
            output::remark(&format!(
                "berth: workflow {name}, version {before} -> {}",
                stored.version
            ));
        }
        None => {}
    }
    match connection.format {
        Format::Json => output::document(stored.json()),
        Format::Table => output::text(&details(&stored, clock::wall())),
    }
}
